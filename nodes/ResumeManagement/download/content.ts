import { isObject, parseJson } from '../answer/json';
import type { Readable, Received } from '../request/send';
import { safeFileName } from './fileName';
import { type Disposition, readDisposition, readMimeType } from './headers';
import { chunksOf, leave, type Patience, toStream } from './stream';

/**
 * A file on its way into n8n's binary store; name and type are '' when nobody gave them. The name is as the
 * sender wrote it, and not safe.
 */
export interface IncomingFile {
	content: Readable | Buffer;
	name: string;
	mimeType: string;
}

/**
 * What a body proved to be: a file, or an answer in words, parsed where it is JSON. Of an answer that
 * is not whole, the rest was not read.
 */
export type Content = { file: IncomingFile } | { body: unknown; whole: boolean };

/** More than an error needs for its words. */
export const MAX_ERROR_BYTES = 1024 * 1024;

export interface ReadOptions {
	patience: Patience;
	/** Of the request. */
	abort: AbortController;
	/** Bytes that are read of an answer with a 2xx; of any other, {@link MAX_ERROR_BYTES} are. */
	maxBytes: number;
}

/** How a body is told from what stands in its place. */
interface Expectation {
	/** Bytes that are read into memory at most. */
	limit: number;
	/** Whether it may be a file: then it is one as soon as it can't be JSON, or is longer. */
	mayBeFile: boolean;
	/** Whether JSON that has been read whole is an answer, rather than a file. */
	isAnswer(parsed: unknown): boolean;
}

/**
 * Tells a file, which stays a stream, from an answer in its place, which is read: by the headers, and
 * where these announce a file, by its first bytes, as an error may go by any type.
 * @throws what the body's stream threw, or ETIMEDOUT
 */
export async function readContent(
	{ statusCode, headers, body }: Received,
	{ patience, abort, maxBytes }: ReadOptions,
): Promise<Content> {
	const mimeType = readMimeType(headers['content-type']);
	const disposition = readDisposition(headers['content-disposition']);
	const name = disposition.names.find((given) => safeFileName(given) !== '') ?? '';
	const ok = statusCode >= 200 && statusCode < 300;
	const { limit, mayBeFile, isAnswer } = ok
		? expectationOf(mimeType, disposition, name, maxBytes)
		: { limit: MAX_ERROR_BYTES, mayBeFile: false, isAnswer: () => true };

	const chunks = chunksOf(body, patience, abort);
	const head = new Bytes();
	const file = (content: Readable | Buffer) => ({ file: { content, name, mimeType } });
	for (;;) {
		const { value: chunk, done } = await chunks.next();
		if (done) break;
		head.add(chunk);
		if (mayBeFile && (head.length > limit || startsAsJson(head) === false)) {
			patience.deadline = undefined;
			return file(toStream(follow(head.all(), chunks), body));
		}
		if (head.length > limit) {
			leave(body, abort);
			break;
		}
	}
	// An empty file is none, whatever the headers say.
	if (head.length === 0) return { body: '', whole: true };
	const whole = head.length <= limit;
	const text = head.all().toString('utf8');
	const parsed = whole ? parseJson(text) : text;
	return isAnswer(parsed) ? { body: parsed, whole } : file(head.all());
}

/** What a 2xx answer may be, by its headers. */
function expectationOf(
	mimeType: string,
	{ attachment }: Disposition,
	name: string,
	maxBytes: number,
): Expectation {
	const answer = { limit: maxBytes, mayBeFile: false, isAnswer: () => true };
	if (mimeType.includes('json') && !attachment) return answer;
	if (mimeType.includes('html') && !attachment && !name) return answer;
	if (mimeType === 'text/plain' && !attachment && !name) {
		const isAnswer = (parsed: unknown) => typeof parsed === 'object';
		return { limit: maxBytes, mayBeFile: true, isAnswer };
	}
	return { limit: MAX_ERROR_BYTES, mayBeFile: true, isAnswer: isError };
}

function isError(parsed: unknown): boolean {
	return isObject(parsed) && parsed.status === 'error';
}

/** Whether an object in JSON may come of a body that starts so; undefined while nobody can tell. */
function startsAsJson(head: Bytes): boolean | undefined {
	const [first, second] = head.first();
	if (first === undefined) return undefined;
	if (first !== OPENING_BRACE) return false;
	// A file in RTF starts with a brace, too.
	return second === undefined ? undefined : second === QUOTE;
}

async function* follow(
	head: Uint8Array,
	rest: AsyncGenerator<Uint8Array, void>,
): AsyncGenerator<Uint8Array, void> {
	yield head;
	yield* rest;
}

/** What may stand before JSON: a byte order mark in UTF-8, and blanks (RFC 8259). */
const BLANK = [0xef, 0xbb, 0xbf, 0x20, 0x09, 0x0a, 0x0d];
const OPENING_BRACE = 0x7b;
const QUOTE = 0x22;

/** Gathers chunks; they may be many and small, so each is copied on arrival. */
class Bytes {
	length = 0;

	private buffer = Buffer.alloc(0);

	/** How many bytes `first` has looked at. */
	private seen = 0;

	private readonly found: number[] = [];

	add(chunk: Uint8Array): void {
		const length = this.length + chunk.length;
		if (length > this.buffer.length) {
			const grown = Buffer.alloc(Math.max(length, 2 * this.buffer.length));
			this.buffer.copy(grown, 0, 0, this.length);
			this.buffer = grown;
		}
		this.buffer.set(chunk, this.length);
		this.length = length;
	}

	/** The first two bytes that are not blank, as far as they have arrived. */
	first(): number[] {
		while (this.found.length < 2 && this.seen < this.length) {
			const byte = this.buffer[this.seen++]!;
			if (!BLANK.includes(byte)) this.found.push(byte);
		}
		return this.found;
	}

	all(): Buffer {
		return this.buffer.subarray(0, this.length);
	}
}
