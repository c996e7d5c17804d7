import { sleep } from 'n8n-workflow';

import { readBytes } from '../http/answer';
import { type Connection, leave, type Readable } from '../http/send';
import { fileTypeOf, HEAD_BYTES, SIGNATURE_BYTES } from './fileType';

/** What a body turned out to be: a file with its media type, or words; `whole` is false if the rest was not read. */
export type Content = { file: Readable; type: string } | { words: Buffer; whole: boolean };

/** Milliseconds between two checks whether a body has stalled. */
const WATCH_INTERVAL = 1_000;

/**
 * Tells a file, which stays a stream, from words, which are read, by what the body starts with.
 * @param mayBeFile whether the first bytes are looked at; else everything is taken for words
 * @param limit bytes of words that are held in memory
 * @throws what the body's stream threw, or ETIMEDOUT
 */
export async function readContent(
	body: Readable,
	mayBeFile: boolean,
	limit: number,
	{ http, deadline, abort }: Pick<Connection, 'http' | 'deadline' | 'abort'>,
): Promise<Content> {
	const patience = { idle: http.timeout, deadline };
	const chunks = chunksOf(body, patience, abort);
	let words = Buffer.alloc(0);
	let whole = false;
	while (!whole && words.length <= limit) {
		// Looked at again and again, as a file may come slowly.
		const isHead = mayBeFile && words.length < HEAD_BYTES;
		const enough = isHead ? Math.max(SIGNATURE_BYTES, words.length + 1) : limit + 1;
		({ bytes: words, whole } = await readBytes(chunks, enough, words));
		const type = isHead && fileTypeOf(words);
		if (type) {
			patience.deadline = Infinity;
			return { file: toStream(words, chunks, body), type };
		}
	}
	if (!whole) leave(body, abort);
	return { words, whole };
}

/**
 * The bytes of a body. One that takes longer than the patience is aborted, and ends in an ETIMEDOUT error.
 * @param patience milliseconds that it may be silent for, and when it has to be at its end, since 1970. Time
 * that its consumer takes does not count as silence.
 * @param abort of the request; n8n 2.x wraps the body, and destroying the wrapper would wait for it
 */
async function* chunksOf(
	body: Readable,
	patience: { idle: number; deadline: number },
	abort: AbortController,
): AsyncGenerator<Uint8Array, void> {
	let waitingSince: number | undefined = Date.now();
	let ended = false;
	// n8n's own timeout ends with the headers where redirects are not followed.
	const watch = async () => {
		while (!ended && !abort.signal.aborted) {
			const now = Date.now();
			const left = Math.min((waitingSince ?? now) + patience.idle, patience.deadline) - now;
			if (left <= 0) return abort.abort();
			await sleep(Math.min(left, WATCH_INTERVAL));
		}
	};
	void watch();
	try {
		for await (const chunk of body) {
			waitingSince = undefined;
			yield chunk as Uint8Array;
			waitingSince = Date.now();
		}
	} catch (error) {
		throw abort.signal.aborted ? Object.assign(new Error(), { code: 'ETIMEDOUT' }) : error;
	} finally {
		ended = true;
	}
}

type ReadableClass = { from(chunks: AsyncIterable<Uint8Array>, options: object): Readable };

/** A stream of the class at the root of `like`, which nodes may not import: the last one that has a `from`. */
function toStream(head: Buffer, rest: AsyncIterable<Uint8Array>, like: Readable): Readable {
	let constructor = like.constructor as unknown as ReadableClass;
	for (;;) {
		const parent = Object.getPrototypeOf(constructor) as ReadableClass | null;
		if (typeof parent?.from !== 'function') break;
		constructor = parent;
	}
	const all = async function* () {
		yield head;
		yield* rest;
	};
	return constructor.from(all(), { objectMode: false });
}
