import type { IBinaryData, IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { Failure, isErrorOfN8n } from '../../shared/failure';
import { decodeHeader } from '../../shared/json';
import type { ParameterReader } from '../../shared/parameters';
import { HIDDEN, hideSecrets } from '../../shared/secrets';
import {
	type JsonBody,
	judge,
	type ParsedResponse,
	reportsError,
	retryAfterOf,
	TRANSIENT,
} from '../http/judge';
import { networkFailure, SERVICE } from '../http/networkFailure';
import { parseBody, readBody, readJson } from '../http/response';
import {
	cancelSignalOf,
	discard,
	type HttpContext,
	type HttpRequest,
	type HttpResponse,
	type Readable,
	requestLink,
	send,
	withRetries,
} from '../http/send';
import { dispositionOf, mimeTypeOf, safeFileName } from './fileNames';
import { fromBase64, HEAD, isFile, locateFile, PDF } from './locateFile';

/**
 * A response that is a file: the response's own bytes, the target of a redirect or a link, or base64 in JSON. The specification
 * does not show which of them the service sends (§4.2).
 */
export class FileOutput {
	/** Binary field of the item. */
	private readonly field: string;

	/** Replaces the name that the service sends; '' to keep it. */
	private readonly fileName: string;

	/** Dotted path of the file in a JSON response; '' to find it. */
	private readonly filePath: string;

	/** @throws Failure */
	constructor(parameters: ParameterReader) {
		this.field = parameters.text('binaryPropertyName');
		this.fileName = parameters.unfilteredText('options.fileName');
		this.filePath = parameters.optionalText('options.filePath');
	}

	/**
	 * Requests the file, and streams it into n8n's binary store. n8n shows only the item's `json` to an AI agent.
	 * @throws Failure
	 */
	async fetchItems(context: HttpContext, request: HttpRequest): Promise<INodeExecutionData[]> {
		return await withRetries(request, cancelSignalOf(context), async () => {
			const file = await requestFile(context, request, this.filePath);
			const binary = await store(context, file, this.fileName);
			const { fileName, mimeType } = binary;
			return [{ json: { fileName, mimeType }, binary: { [this.field]: binary } }];
		});
	}
}

interface FoundFile {
	content: Readable | Buffer;
	/** Name and type of the file. */
	headers: IDataObject;
	/** The response that the file is from. */
	response: HttpResponse;
}

/** Requests the file from the service or, where its response leads elsewhere, from there. @throws Failure */
async function requestFile(
	context: HttpContext,
	request: HttpRequest,
	filePath: string,
): Promise<FoundFile> {
	const response = await send(context, { ...request, file: true });
	const { statusCode, headers, url, secrets } = response;
	const isRedirect = statusCode >= 300 && statusCode < 400 && statusCode !== 304;
	if (isRedirect && headers.location) {
		discard(response);
		return await requestLinkedFile(
			context,
			request,
			toAddress(hideSecrets(decodeHeader(headers.location), secrets), url),
		);
	}
	const opened = await open(response, filePath === '' && dispositionOf(headers).isAttachment);
	if ('content' in opened) return { ...opened, headers, response };
	const located = locateFile(judgeInPlaceOfFile(opened.text), filePath);
	if ('bytes' in located) return { content: located.bytes, headers: {}, response };
	// The file may be text where the user's File Path leads to its link.
	return await requestLinkedFile(context, request, toAddress(located.link), filePath !== '');
}

/** Requests the file from another host. @param mayBeText also if it is not sent as an attachment @throws Failure */
async function requestLinkedFile(
	context: HttpContext,
	request: HttpRequest,
	url: string,
	mayBeText = false,
): Promise<FoundFile> {
	const response = await requestLink(context, request, url);
	const { statusCode: status, headers, host } = response;
	if (status !== 200) {
		discard(response);
		const retryAfter = retryAfterOf(headers);
		const facts = { httpStatus: status, transient: TRANSIENT.includes(status), retryAfter };
		throw new Failure('file.notSent', { status }, facts);
	}
	const opened = await open(response, mayBeText || dispositionOf(headers).isAttachment);
	if ('content' in opened) return { ...opened, headers, response };
	throw new Failure('file.isText', host, { httpStatus: status });
}

/**
 * @param link without secrets, which are hidden in it
 * @param base address that a redirect is relative to; undefined for a link in JSON
 * @throws Failure
 */
function toAddress(link: string, base?: string): string {
	if (link.includes(HIDDEN)) throw new Failure('file.linkHoldsKey');
	const url = URL.canParse(link, base) && new URL(link, base);
	if (!url || !/^https?:$/.test(url.protocol)) throw new Failure('file.badLink');
	return url.href;
}

/** Values of Content-Encoding that change no byte. S3 keeps `aws-chunked`, which is of an upload. */
const NO_ENCODING = /^(identity|none|utf-?8|aws-chunked)?$/i;

/**
 * Tells whether a response is the file, or text in its place, such as an error or a link:
 *
 * - HTTP 200 that begins as a file of its type: the file, as a stream;
 * - declared as a PDF, and base64 of one: the decoded file;
 * - any other text, where text is accepted: its bytes;
 * - anything else: the parsed text.
 *
 * @param mayBeText accepts text, unless it is blank, reports an error, or is declared as a PDF
 * @throws Failure
 */
async function open(
	response: HttpResponse,
	mayBeText: boolean,
): Promise<Pick<FoundFile, 'content'> | { text: ParsedResponse }> {
	const { statusCode, headers } = response;
	if (statusCode !== 200) return { text: await readJson(response) };
	const encoding = headers['content-encoding'] ?? '';
	if (!NO_ENCODING.test(String(encoding))) {
		discard(response);
		throw new Failure('file.compressed', { encoding: String(encoding) }, { httpStatus: 200 });
	}
	const type = mimeTypeOf(headers);
	const { isFileHere, whole } = await peek(response, type);
	if (isFileHere) return { content: whole };

	const body = await readBody({ ...response, body: whole });
	const text = parseBody(response, body);
	if (type === PDF) {
		const content = typeof text.body === 'string' && fromBase64(text.body);
		return content && isFile(content.subarray(0, HEAD), type) ? { content } : { text };
	}
	const isBlank = typeof text.body === 'string' && text.body.trim() === '';
	const isAccepted = mayBeText && !isBlank && !reportsError(text.body);
	return isAccepted ? { content: body.bytes } : { text };
}

/** Judges the JSON that has come in place of a file. @throws Failure */
function judgeInPlaceOfFile(response: ParsedResponse): JsonBody {
	try {
		return judge(response);
	} catch (error) {
		// The user expects a file, and not JSON.
		const isNotJson = error instanceof Failure && error.id === 'response.notJson';
		throw isNotJson ? new Failure('file.isText', SERVICE, error.facts) : error;
	}
}

/** Reads the start of a body until it is one of a file. @returns also a stream of the whole body @throws Failure */
async function peek(
	response: HttpResponse,
	type: string,
): Promise<{ isFileHere: boolean; whole: Readable }> {
	const { body, limit, host } = response;
	const chunks = readChunks(response);
	let start = Buffer.alloc(0);
	try {
		// A chunk may be a single byte.
		while (start.length < HEAD && !isFile(start, type)) {
			const { value, done } = await chunks.next();
			if (done) break;
			start = Buffer.concat([start, value]);
		}
	} catch (error) {
		throw networkFailure(error, limit.signal, host);
	}
	const all = async function* () {
		yield start;
		yield* chunks;
	};
	const isFileHere = isFile(start.subarray(0, HEAD), type);
	return { isFileHere, whole: toStream(all(), body) };
}

/** Yields the chunks of a body, each with a time limit of its own, in which the time of n8n's store does not count. */
async function* readChunks({ body, limit }: HttpResponse): AsyncGenerator<Uint8Array, void> {
	limit.restart();
	for await (const chunk of body) {
		limit.lift();
		yield chunk as Uint8Array;
		limit.restart();
	}
	limit.lift();
}

/** Calls `Readable.from` of Node.js, which each class of streams inherits: nodes may not import `stream`. */
function toStream(chunks: AsyncIterable<Uint8Array>, { constructor }: Readable): Readable {
	const { from } = constructor as unknown as {
		from(source: AsyncIterable<Uint8Array>, options: object): Readable;
	};
	return from(chunks, { objectMode: false });
}

/** Type of a file of which nothing is known. */
const UNKNOWN = 'application/octet-stream';

/** @param wantedName replaces the file's own name, unless it is '' @throws Failure; n8n's own errors */
async function store(
	context: HttpContext,
	{ content, headers, response: { limit, host, secrets } }: FoundFile,
	wantedName: string,
): Promise<IBinaryData> {
	let bodyError: unknown;
	if (Buffer.isBuffer(content)) {
		if (secrets.some((secret) => content.includes(secret))) throw new Failure('file.holdsSecret');
	} else {
		content.once('error', (error) => (bodyError = error));
	}
	const sentName = hideSecrets(dispositionOf(headers).fileName, secrets);
	const name = safeFileName(wantedName) || safeFileName(sentName);
	// n8n detects the type of a buffer itself (n8n-core's binary-helper-functions.ts).
	const otherwise = Buffer.isBuffer(content) ? undefined : UNKNOWN;
	try {
		// The pick lists' context lacks it, and they store no files.
		const { helpers } = context as IExecuteFunctions;
		const type = mimeTypeOf(hideSecrets(headers, secrets)) || otherwise;
		const binary = await helpers.prepareBinaryData(content, name || 'resume', type);
		const hasName = name !== '' || type === UNKNOWN || !binary.fileExtension;
		return hasName ? binary : { ...binary, fileName: `resume.${binary.fileExtension}` };
	} catch (error) {
		const { code } = error as { code?: string };
		const notStored = isErrorOfN8n(error) ? error : new Failure('file.notStored', {}, { code });
		const failure = bodyError ? networkFailure(bodyError, limit.signal, host) : notStored;
		// n8n may not have read the whole body.
		limit.abort();
		throw failure;
	}
}
