import { sleep } from 'n8n-workflow';

import type { Readable } from '../request/send';

interface ReadableClass {
	from(chunks: AsyncIterable<Uint8Array>, options: { objectMode: boolean }): Readable;
}

/** How long a body is waited for. */
export interface Patience {
	/** Milliseconds that it may be silent for. Time that its consumer takes does not count. */
	idle: number;
	/** When it has to be at its end, in milliseconds since 1970; lifted once it proves to be a file. */
	deadline?: number;
}

/** Milliseconds between two looks at a body that may have stalled. */
const WATCH_INTERVAL = 1_000;

/**
 * The bytes of a body. One that takes longer than the patience is aborted, and ends in an ETIMEDOUT
 * error: n8n's own timeout ends with the headers where redirects are not followed.
 * @param abort of the request; n8n 2.x wraps the body, and destroying the wrapper would wait for it
 */
export async function* chunksOf(
	body: Readable,
	patience: Patience,
	abort: AbortController,
): AsyncGenerator<Uint8Array, void> {
	let waitingSince: number | undefined = Date.now();
	let ended = false;
	const watch = async () => {
		while (!ended && !abort.signal.aborted) {
			const now = Date.now();
			const left = Math.min(
				waitingSince === undefined ? patience.idle : waitingSince + patience.idle - now,
				(patience.deadline ?? Infinity) - now,
			);
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

/** A stream of the same class as `like`. */
export function toStream(chunks: AsyncIterable<Uint8Array>, like: Readable): Readable {
	return readableClass(like).from(chunks, { objectMode: false });
}

/** Ends a request whose body is of no interest. */
export function leave(body: Readable, abort: AbortController): void {
	// Nobody else would hear of the end of a body that is not read, and n8n's process would end, too.
	body.once('error', () => {});
	abort.abort();
}

/** The class at the root of every stream: the last of its constructors that has a `from`. */
function readableClass(stream: Readable): ReadableClass {
	let constructor = stream.constructor as unknown as ReadableClass;
	for (;;) {
		const parent = Object.getPrototypeOf(constructor) as ReadableClass | null;
		if (typeof parent?.from !== 'function') return constructor;
		constructor = parent;
	}
}
