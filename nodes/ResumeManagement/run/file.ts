import type { IBinaryData, IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { Failure, isErrorOfN8n } from '../../shared/failure';
import { decodeText, parseJson } from '../../shared/json';
import type { ParameterReader } from '../../shared/parameters';
import { HIDDEN, hideSecrets, holdsSecret, type Secrets } from '../../shared/secrets';
import { retryAfterOf, withRetries } from '../http/attempts';
import { type JsonBody, judge, reportsError, TRANSIENT } from '../http/judge';
import { networkFailure, SERVICE } from '../http/networkFailure';
import { readJson, readWhole } from '../http/response';
import {
	discard,
	type HttpRequest,
	type HttpResponse,
	limitTime,
	type Readable,
	requestLink,
	send,
	type Sender,
} from '../http/send';
import { isText, locateFile, dispositionOf, mimeTypeOf, safeFileName } from '../output/files';

/**
 * The kind of a response that is a file: the response's own bytes, the target of a redirect or a link, or base64 in JSON.
 * The specification does not show which of them the service sends (§4.2). The constructor and `requestItems` throw Failures.
 */
export class FileKind {
	/** Binary field of the item. */
	private readonly field: string;

	/** Replaces the name that the service sends; '' to keep it. */
	private readonly fileName: string;

	/** Dotted path of the file in a JSON response; '' to find it. */
	private readonly filePath: string;

	constructor(parameters: ParameterReader) {
		this.field = parameters.text('binaryPropertyName');
		this.fileName = parameters.optionalText('options.fileName');
		this.filePath = parameters.optionalText('options.filePath');
	}

	/** Streams the file into n8n's binary store. n8n shows only the item's `json` to an AI agent. */
	async requestItems(sender: Sender, request: HttpRequest): Promise<INodeExecutionData[]> {
		return await withRetries(request, sender.cancelled, async () => {
			const binary = await store(sender, await this.find(sender, request), this.fileName);
			const { fileName, mimeType } = binary;
			return [{ json: { fileName, mimeType }, binary: { [this.field]: binary } }];
		});
	}

	private async find(sender: Sender, request: HttpRequest): Promise<FoundFile> {
		const response = await send(sender, { ...request, file: true });
		const { statusCode, headers, secrets, url } = response;
		const isRedirect = statusCode >= 300 && statusCode < 400 && statusCode !== 304;
		if (isRedirect && headers.location) {
			discard(response);
			const link = toAddress(String(headers.location), secrets, url);
			return await openLink(await requestLink(sender, request, link));
		}
		const mayBeText = this.filePath === '' && dispositionOf(headers).isAttachment;
		const opened = await open(response, mayBeText);
		if ('file' in opened) return { ...opened, headers, response };
		const located = locateFile(await readEnvelope(opened.notFile), this.filePath);
		if ('bytes' in located) return { file: located.bytes, headers: {}, response };
		const linked = await requestLink(sender, request, toAddress(located.link, secrets));
		// Where the user's File Path leads to the link, the file may be text.
		return await openLink(linked, this.filePath !== '');
	}
}

/** A file with the headers that name it, and the response that it is from. */
interface FoundFile {
	file: Readable | Buffer;
	headers: IDataObject;
	response: HttpResponse;
}

/** Reads the JSON that has come in place of a file. */
async function readEnvelope(response: HttpResponse): Promise<JsonBody> {
	try {
		return judge(await readJson(response));
	} catch (error) {
		// The user expects a file, and not JSON.
		const isNotJson = error instanceof Failure && error.id === 'response.notJson';
		throw isNotJson ? new Failure('file.isText', SERVICE, error.facts) : error;
	}
}

/** Opens the response of a file's host. @param mayBeText also when it is not sent as an attachment */
async function openLink(response: HttpResponse, mayBeText = false): Promise<FoundFile> {
	const { statusCode: status, headers, host } = response;
	const opened = await open(response, mayBeText || dispositionOf(headers).isAttachment);
	if ('file' in opened) return { ...opened, headers, response };
	discard(response);
	const retryAfter = retryAfterOf(headers);
	const facts = { httpStatus: status, transient: TRANSIENT.includes(status), retryAfter };
	throw new Failure(status === 200 ? 'file.isText' : 'file.notSent', { ...host, status }, facts);
}

/** Characters of an address. Longer ones keep n8n busy for seconds. */
const LONGEST_LINK = 8_192;

/** @param base address that a redirect is relative to; undefined for a link in JSON */
function toAddress(link: string, secrets: Secrets, base?: string): string {
	const url = link.length <= LONGEST_LINK && URL.canParse(link, base) && new URL(link, base);
	if (!url || !/^https?:$/.test(url.protocol)) throw new Failure('file.badLink');
	if (link.includes(HIDDEN) || holdsSecret(`${link} ${url.href}`, secrets)) {
		throw new Failure('file.linkHoldsKey');
	}
	return url.href;
}

/** Bytes that are searched for the first character that is not blank. */
const LONGEST_BLANK = 4_096;

/**
 * Decides whether a response is the file or text in its place, such as an error or a link.
 * @param mayBeText accepts text too, unless it reports an error
 * @returns the file; else the response, whose whole body is still to be read
 */
async function open(
	response: HttpResponse,
	mayBeText: boolean,
): Promise<{ file: Readable | Buffer } | { notFile: HttpResponse }> {
	const { statusCode, headers, body } = response;
	if (statusCode !== 200) return { notFile: response };
	const { start, whole } = await peek(response);
	const unread = { ...response, body: whole };
	if (!isText(start, mimeTypeOf(headers))) return { file: whole };
	if (!mayBeText) return { notFile: unread };
	const bytes = await readWhole(unread);
	const parsed = parseJson(decodeText(bytes, headers['content-type']) ?? '');
	const isError = parsed !== undefined && reportsError(parsed.value);
	// A blank response is no file.
	if (start !== '' && !isError) return { file: bytes };
	// The body was read to its end, so its bytes are handed on.
	return { notFile: { ...unread, body: toStream([bytes], body) } };
}

/** Returns the start of a body as text without blanks before it, and a stream of the whole body. */
async function peek(response: HttpResponse): Promise<{ start: string; whole: Readable }> {
	const { body, clock, host } = response;
	const chunks = readChunks(response);
	let head = Buffer.alloc(0);
	let start = '';
	try {
		// A chunk may be a single byte.
		while (start === '' && head.length < LONGEST_BLANK) {
			const { value, done } = await chunks.next();
			if (done) break;
			head = Buffer.concat([head, value]);
			// Half a character at the end is left out, such as half a byte order mark.
			start = new TextDecoder().decode(head, { stream: true }).trimStart();
		}
	} catch (error) {
		throw networkFailure(error, clock.signal, host);
	}
	const all = async function* () {
		yield head;
		yield* chunks;
	};
	return { start, whole: toStream(all(), body) };
}

/** Yields the chunks of a body, and ends its request when none comes within the time limit. */
async function* readChunks({ body, clock }: HttpResponse): AsyncGenerator<Uint8Array, void> {
	const { controller, milliseconds } = clock;
	let stop = limitTime(controller, milliseconds);
	try {
		for await (const chunk of body) {
			// The time that n8n's store takes for a chunk does not count.
			stop();
			yield chunk as Uint8Array;
			stop = limitTime(controller, milliseconds);
		}
	} finally {
		stop();
	}
}

type Chunks = AsyncIterable<Uint8Array> | Uint8Array[];

/** Calls `Readable.from` of Node.js, which each class of streams inherits: nodes may not import `stream`. */
function toStream(chunks: Chunks, { constructor }: Readable): Readable {
	const { from } = constructor as unknown as { from(chunks: Chunks, options: object): Readable };
	return from(chunks, { objectMode: false });
}

/** @param fileName that the user wants; '' for the one in the headers */
async function store(
	{ context }: Sender,
	{ file, headers, response: { clock, host, secrets } }: FoundFile,
	fileName: string,
): Promise<IBinaryData> {
	// Each chunk has its own time limit from here on: see `readChunks`.
	clock.stop();
	const isBuffer = Buffer.isBuffer(file);
	if (isBuffer && holdsSecret(file, secrets)) throw new Failure('file.holdsSecret');
	// Twice: without unsafe characters, or in lower case, a text may hold another secret.
	const hide = (text: string) => hideSecrets(text, secrets);
	const name = hide(safeFileName(hide(dispositionOf(headers).fileName)));
	const type = hide(mimeTypeOf(hideSecrets(headers, secrets)));
	let bodyError: unknown;
	if (!isBuffer) file.once('error', (error) => (bodyError = error));
	try {
		// The pickers' context lacks it, and they store no files.
		return await (context as IExecuteFunctions).helpers.prepareBinaryData(
			file,
			safeFileName(fileName) || name || 'resume',
			// n8n detects the type of a buffer itself (n8n-core's binary-helper-functions.ts).
			type || (isBuffer ? undefined : 'application/octet-stream'),
		);
	} catch (error) {
		const { code } = error as { code?: string };
		const notStored = isErrorOfN8n(error) ? error : new Failure('file.notStored', {}, { code });
		const failure = bodyError ? networkFailure(bodyError, clock.signal, host) : notStored;
		// n8n may not have read the whole body.
		clock.controller.abort();
		throw failure;
	}
}
