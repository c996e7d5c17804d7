import { type IExecuteFunctions, sleep } from 'n8n-workflow';

/** Node's `Readable`, by way of n8n's types: nodes may not import `stream`. */
export type Readable = Exclude<
	Parameters<IExecuteFunctions['helpers']['prepareBinaryData']>[0],
	Buffer
>;

interface ReadableClass {
	from(chunks: AsyncIterable<Uint8Array>, options: { objectMode: boolean }): Readable;
}

/** Milliseconds between two looks at a stream that may have stalled. */
const WATCH_INTERVAL = 1_000;

/**
 * The same bytes, but a body that sends nothing for `idleTimeout` milliseconds is aborted, and ends
 * in an ETIMEDOUT error: n8n's own timeout ends with the headers where redirects are not followed.
 * Time that the consumer takes does not count.
 * @param abort of the request; n8n 2.x wraps the body, and destroying the wrapper would wait for it
 */
export function withIdleTimeout(
	body: Readable,
	idleTimeout: number,
	abort: AbortController,
): Readable {
	let waitingSince: number | undefined = Date.now();
	let ended = false;
	const watch = async () => {
		while (!ended) {
			const left =
				waitingSince === undefined ? idleTimeout : waitingSince + idleTimeout - Date.now();
			if (left <= 0) return abort.abort();
			await sleep(Math.min(left, WATCH_INTERVAL));
		}
	};
	async function* chunks() {
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
	void watch();
	return readableClass(body).from(chunks(), { objectMode: false });
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
