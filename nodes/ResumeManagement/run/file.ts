import type { IBinaryKeyData, IDataObject } from 'n8n-workflow';

import { Failure } from '../../shared/failure';
import { decodeText, parseJson } from '../../shared/json';
import { HIDDEN, hideAndCut, holdsSecret, type Secrets } from '../../shared/secrets';
import { readAnswer, readWhole } from '../http/answer';
import { withRetryAfter } from '../http/attempts';
import { reportsError, TRANSIENT } from '../http/judge';
import { FILE_HOST, networkFailure } from '../http/networkFailure';
import {
	abortable,
	type Connection,
	discard,
	limitTime,
	type Readable,
	type Received,
	UNPACKED,
} from '../http/send';
import { readDisposition, safeFileName } from '../output/fileName';
import { isText, locateFile, readMimeType } from '../output/fileType';

/** The user's settings for a file. All but `field` may be ''. */
export interface FileSettings {
	/** Binary field of the item. */
	field: string;
	/** Replaces the name that the service sends. */
	fileName: string;
	/** Where a JSON answer holds the file. */
	filePath: string;
}

/** A file in n8n's binary store. n8n shows only `json` to an AI agent. */
export interface StoredFile {
	json: IDataObject;
	binary: IBinaryKeyData;
}

interface Source {
	content: Readable | Buffer;
	/** Headers that name the file and its type. */
	headers: IDataObject;
	connection: Connection;
}

/**
 * Stores the file of a download: the response's own bytes, the target of a redirect or a link, or base64 in JSON.
 * The specification does not show which one the service sends (§4.2).
 * @throws Failure
 */
export async function storeFile(
	received: Received,
	settings: FileSettings,
	connection: Connection,
): Promise<StoredFile> {
	const { statusCode, headers, url, body } = received;
	const isRedirect = statusCode >= 300 && statusCode < 400 && statusCode !== 304;
	if (isRedirect && headers.location) {
		discard(body, connection.abort);
		return await store(await fetchFile(String(headers.location), connection, url), settings);
	}
	const found = await inTime(connection, async () => {
		const opened = await open(received, connection, settings.filePath === '');
		if ('content' in opened) return opened;
		return locateFile(await readAnswer(opened.text, connection), settings.filePath);
	});
	if ('link' in found) return await store(await fetchFile(found.link, connection), settings);
	const source = 'bytes' in found ? { content: found.bytes, headers: {} } : { ...found, headers };
	return await store({ ...source, connection }, settings);
}

/** Limits the time until a file begins. A file itself may take longer. */
async function inTime<T>({ abort, http }: Connection, work: () => Promise<T>): Promise<T> {
	const stopClock = limitTime(abort, http.timeout);
	try {
		return await work();
	} finally {
		stopClock();
	}
}

/** Characters of an address. Longer ones keep n8n busy for seconds. */
const LONGEST_LINK = 8_192;

/** Returns the absolute address of a link, which must not hold a secret. */
function toAddress(link: string, secrets: Secrets, base?: string): string {
	const isShort = link.length <= LONGEST_LINK;
	const url = isShort && URL.canParse(link, base) ? new URL(link, base) : undefined;
	if (!url || !/^https?:$/.test(url.protocol)) throw new Failure('file.badLink');
	const holds = link.includes(HIDDEN) || holdsSecret(`${link} ${url.href}`, secrets);
	if (holds) throw new Failure('file.linkHoldsKey');
	return url.href;
}

/**
 * Requests a file from the host that the service names, without the private key.
 * @param base address that a redirect is relative to; undefined for a link in JSON
 */
async function fetchFile(link: string, from: Connection, base?: string): Promise<Source> {
	const url = toAddress(link, from.secrets, base);
	const connection = { ...from, ...abortable(from.cancelled), host: FILE_HOST };
	const { abort, http, signal, host } = connection;
	return await inTime(connection, async () => {
		const answer = await connection.helpers
			.httpRequest({
				url,
				headers: UNPACKED,
				encoding: 'stream',
				returnFullResponse: true,
				ignoreHttpStatusErrors: true,
				abortSignal: signal,
				...http,
				// n8n's client would end a silent body just before our own limit, as a lost connection.
				timeout: 2 * http.timeout,
			})
			.catch((error: unknown) => {
				throw networkFailure(error, signal, host);
			});
		const received: Received = { ...answer, url };
		const { statusCode: status, headers } = received;
		const opened = await open(received, connection, true);
		if ('content' in opened) return { ...opened, headers, connection };
		discard(received.body, abort);
		const facts = { httpStatus: status, transient: TRANSIENT.includes(status) };
		throw withRetryAfter(new Failure('file.notSent', { status }, facts), headers);
	});
}

/** Bytes that are searched for the first character that is not blank. */
const LONGEST_BLANK = 4_096;

/**
 * Tells a file from text in its place, such as an error or a link.
 * @param takesText whether text that is sent as an attachment is a file
 */
async function open(
	received: Received,
	connection: Connection,
	takesText: boolean,
): Promise<{ content: Readable | Buffer } | { text: Received }> {
	const { statusCode, headers, body } = received;
	if (statusCode === 206) {
		discard(body, connection.abort);
		throw new Failure('file.partial', {}, { httpStatus: statusCode });
	}
	if (statusCode !== 200) return { text: received };
	const { start, whole } = await peek(body, connection);
	const text = { ...received, body: whole };
	if (!isText(start, readMimeType(headers))) return { content: whole };
	if (!takesText || !readDisposition(headers).isAttachment) return { text };
	const bytes = await readWhole(text, connection);
	const isFile = start !== '' && !holdsError(bytes, headers);
	return isFile ? { content: bytes } : { text: { ...text, body: toStream([bytes], body) } };
}

function holdsError(bytes: Buffer, headers: IDataObject): boolean {
	const parsed = parseJson(decodeText(bytes, headers['content-type']) ?? '');
	return 'value' in parsed && reportsError(parsed.value);
}

/** Returns the start of a body as text without blanks before it, and a stream of the whole body. */
async function peek(
	body: Readable,
	connection: Connection,
): Promise<{ start: string; whole: Readable }> {
	const chunks = withoutSilence(body, connection);
	let head = Buffer.alloc(0);
	let start = '';
	try {
		// A file may come slowly, byte for byte.
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
async function* withoutSilence(
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

/** Calls Node's `Readable.from`, which each class of streams inherits: nodes may not import `stream`. */
function toStream(
	chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
	{ constructor }: Readable,
): Readable {
	const { from } = constructor as unknown as {
		from(iterable: typeof chunks, options: { objectMode: boolean }): Readable;
	};
	return from(chunks, { objectMode: false });
}

async function store(
	{ content, headers, connection }: Source,
	settings: FileSettings,
): Promise<StoredFile> {
	const { abort, helpers, host, secrets, signal } = connection;
	if (Buffer.isBuffer(content) && holdsSecret(content.toString(), secrets)) {
		throw new Failure('file.holdsSecret');
	}
	// Hidden again after each change: a name without its unsafe characters may hold a secret.
	const hide = (text: string) => hideAndCut(text, secrets);
	const given = hide(safeFileName(hide(readDisposition(headers).fileName)));
	const declared = hide(
		readMimeType({ 'content-type': hide(String(headers['content-type'] ?? '')) }),
	);
	let lost: unknown;
	if (!Buffer.isBuffer(content)) content.once('error', (error) => (lost = error));
	try {
		const binary = await helpers.prepareBinaryData(
			content,
			safeFileName(settings.fileName) || given || 'resume',
			declared || (Buffer.isBuffer(content) ? undefined : 'application/octet-stream'),
		);
		const { fileName, mimeType } = binary;
		return { json: { fileName, mimeType }, binary: { [settings.field]: binary } };
	} catch (error) {
		const { code } = error as { code?: string };
		const failure = lost
			? networkFailure(lost, signal, host)
			: new Failure('file.notStored', {}, { code });
		// n8n may have left the body unread.
		abort.abort();
		throw failure;
	}
}
