import type { IBinaryKeyData, IDataObject, IHttpRequestOptions } from 'n8n-workflow';

import { Failure, type FailureId, isErrorOfN8n } from '../../shared/failure';
import { decodeText, parseJson } from '../../shared/json';
import { HIDDEN, hideSecrets, holdsSecret, type Secrets } from '../../shared/secrets';
import { readJson, readWhole } from '../http/response';
import { withRetryAfter } from '../http/attempts';
import { reportsError, TRANSIENT } from '../http/judge';
import { FILE_HOST, networkFailure, SERVICE } from '../http/networkFailure';
import {
	type Connection,
	discard,
	limitTime,
	type Readable,
	type HttpResponse,
	startClock,
	STREAMED,
	UNPACKED,
} from '../http/send';
import { isText, locateFile, readDisposition, readMimeType, safeFileName } from '../output/file';

/** The user's settings for a file. All but `field` may be ''. */
export interface FileSettings {
	/** Binary field of the item. */
	field: string;
	/** Replaces the name that the service sends. */
	fileName: string;
	/** Dotted path of the file in a JSON response. */
	filePath: string;
}

/** A file in n8n's binary store. n8n shows only `json` to an AI agent. */
export interface StoredFile {
	json: IDataObject;
	binary: IBinaryKeyData;
}

/**
 * Stores the file of a download: the response's own bytes, the target of a redirect or a link, or base64 in JSON.
 * The specification does not show which of them the service sends (§4.2).
 * @throws Failure
 */
export async function storeFile(
	response: HttpResponse,
	settings: FileSettings,
	connection: Connection,
): Promise<StoredFile> {
	const { statusCode, headers, url, body } = response;
	const isRedirect = statusCode >= 300 && statusCode < 400 && statusCode !== 304;
	if (isRedirect && headers.location) {
		discard(body, connection.abort);
		return await storeLink(String(headers.location), settings, connection, url);
	}
	const mayBeText = settings.filePath === '' && readDisposition(headers).isAttachment;
	const opened = await open(response, connection, mayBeText);
	if ('file' in opened) return await store(opened.file, headers, settings, connection);
	const json = await readJson(opened.text, connection).catch((error: unknown) => {
		const id = error instanceof Failure && IN_PLACE_OF_FILE.get(error.id);
		throw id ? new Failure(id, { ...SERVICE, what: 'a file' }, error.facts) : error;
	});
	const located = locateFile(json, settings.filePath);
	if ('link' in located) return await storeLink(located.link, settings, connection);
	return await store(located.bytes, {}, settings, connection);
}

/** Failures that replace those of `readJson`, which expects JSON: the user expects a file. */
const IN_PLACE_OF_FILE = new Map<FailureId, FailureId>([
	['response.notJson', 'file.isText'],
	['response.webPage', 'response.webPage'],
]);

/**
 * Stores the file behind a link. Its host never gets the private key.
 * @param base address that a redirect is relative to; undefined for a link in JSON
 */
async function storeLink(
	link: string,
	settings: FileSettings,
	service: Connection,
	base?: string,
): Promise<StoredFile> {
	const { helpers, http, secrets, cancelled } = service;
	const url = toAddress(link, secrets, base);
	const connection = { ...service, ...startClock(http.timeout, cancelled), host: FILE_HOST };
	const { abort, signal, host } = connection;
	const options: IHttpRequestOptions = {
		url,
		headers: UNPACKED,
		...STREAMED,
		abortSignal: signal,
		...http,
		// The node has its own time limit: n8n's would include the time that n8n's store takes.
		timeout: 0,
	};
	const response = await helpers.httpRequest(options).catch((error: unknown) => {
		throw networkFailure(error, signal, host);
	});
	const { statusCode: status, headers, body }: HttpResponse = response;
	// The user's File Path leads to the link, so that text behind it is meant.
	const mayBeText = readDisposition(headers).isAttachment || (!base && settings.filePath !== '');
	const opened = await open({ ...response, url }, connection, mayBeText);
	if ('file' in opened) return await store(opened.file, headers, settings, connection);
	discard(body, abort);
	const facts = { httpStatus: status, transient: TRANSIENT.includes(status) };
	const id = status === 200 ? 'file.isText' : 'file.notSent';
	throw withRetryAfter(new Failure(id, { ...host, status }, facts), headers);
}

/** Characters of an address. Longer ones keep n8n busy for seconds. */
const LONGEST_LINK = 8_192;

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
 * @param mayBeText if the file may be text, which does not report an error
 */
async function open(
	response: HttpResponse,
	connection: Connection,
	mayBeText: boolean,
): Promise<{ file: Readable | Buffer } | { text: HttpResponse }> {
	const { statusCode, headers, body } = response;
	if (statusCode === 206) {
		discard(body, connection.abort);
		throw new Failure('file.partial', {}, { httpStatus: statusCode });
	}
	if (statusCode !== 200) return { text: response };
	const { start, whole } = await peek(body, connection);
	const text = { ...response, body: whole };
	if (!isText(start, readMimeType(headers))) return { file: whole };
	if (!mayBeText) return { text };
	const bytes = await readWhole(text, connection);
	const parsed = parseJson(decodeText(bytes, headers['content-type']) ?? '');
	const isError = parsed !== undefined && reportsError(parsed.value);
	if (start !== '' && !isError) return { file: bytes };
	return { text: { ...text, body: toStream([bytes], body) } };
}

/** Returns the start of a body as text without blanks before it, and a stream of the whole body. */
async function peek(
	body: Readable,
	connection: Connection,
): Promise<{ start: string; whole: Readable }> {
	const chunks = readChunks(body, connection);
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
		throw networkFailure(error, connection.signal, connection.host);
	}
	const all = async function* () {
		yield head;
		yield* chunks;
	};
	return { start, whole: toStream(all(), body) };
}

/** Yields the chunks of a body, and ends its request when none comes within the time limit. */
async function* readChunks(
	body: Readable,
	{ abort, http }: Connection,
): AsyncGenerator<Uint8Array, void> {
	let stopClock = limitTime(abort, http.timeout);
	try {
		for await (const chunk of body) {
			// The time that n8n's store takes for a chunk does not count.
			stopClock();
			yield chunk as Uint8Array;
			stopClock = limitTime(abort, http.timeout);
		}
	} finally {
		stopClock();
	}
}

type Chunks = AsyncIterable<Uint8Array> | Uint8Array[];

/** Calls `Readable.from` of Node.js, which each class of streams inherits: nodes may not import `stream`. */
function toStream(chunks: Chunks, { constructor }: Readable): Readable {
	const { from } = constructor as unknown as { from(chunks: Chunks, options: object): Readable };
	return from(chunks, { objectMode: false });
}

async function store(
	file: Readable | Buffer,
	headers: IDataObject,
	settings: FileSettings,
	{ abort, helpers, host, secrets, signal, stopClock }: Connection,
): Promise<StoredFile> {
	stopClock();
	const isBuffer = Buffer.isBuffer(file);
	if (isBuffer && holdsSecret(file, secrets)) throw new Failure('file.holdsSecret');
	// Secrets are hidden twice: a name may hold another one once its unsafe characters are removed.
	const hide = (text: string) => hideSecrets(text, secrets);
	const name = hide(safeFileName(hide(readDisposition(headers).fileName)));
	const type = hide(readMimeType(hideSecrets(headers, secrets)));
	let lost: unknown;
	if (!isBuffer) file.once('error', (error) => (lost = error));
	try {
		const binary = await helpers.prepareBinaryData(
			file,
			safeFileName(settings.fileName) || name || 'resume',
			// n8n detects the type of a buffer itself (n8n-core's binary-helper-functions.ts).
			type || (isBuffer ? undefined : 'application/octet-stream'),
		);
		const { fileName, mimeType } = binary;
		return { json: { fileName, mimeType }, binary: { [settings.field]: binary } };
	} catch (error) {
		const { code } = error as { code?: string };
		const notStored = isErrorOfN8n(error) ? error : new Failure('file.notStored', {}, { code });
		const failure = lost ? networkFailure(lost, signal, host) : notStored;
		// n8n may not have read the whole body.
		abort.abort();
		throw failure;
	}
}
