import { networkFailure } from '../http/networkFailure';
import type { HttpResponse, Readable, TimeLimit } from '../http/send';

/** A body whose start was read. */
export interface StartedBody {
	/** The first bytes. */
	start: Buffer;
	/** All bytes, the first ones included. They can be read once. */
	whole: AsyncIterable<Uint8Array>;
}

/**
 * Reads the start of a body.
 * @param length bytes of the start, unless the body is shorter
 * @throws Failure
 */
export async function readStart(
	{ body, limit, host }: HttpResponse,
	length: number,
): Promise<StartedBody> {
	const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array, undefined>;
	let start = Buffer.alloc(0);
	try {
		// A chunk may be a single byte.
		while (start.length < length) {
			const { value } = await chunks.next();
			if (!value) break;
			start = Buffer.concat([start, value]);
		}
	} catch (error) {
		throw networkFailure(error, limit.signal, host);
	}
	return { start, whole: wholeBody(start, chunks, body) };
}

async function* wholeBody(
	start: Uint8Array,
	rest: AsyncIterator<Uint8Array, undefined>,
	body: Readable,
): AsyncGenerator<Uint8Array> {
	try {
		let chunk: Uint8Array | undefined = start;
		while (chunk) {
			yield chunk;
			chunk = (await rest.next()).value;
		}
	} finally {
		// Closes the connection if the reader stops before the end.
		body.destroy();
	}
}

/**
 * Returns a body as a stream for n8n's binary store. From now on, the time limit is for each wait for a chunk: a large file may take
 * any time, and the time that n8n's store takes does not count.
 */
export function toStream({ whole }: StartedBody, { body, limit }: HttpResponse): Readable {
	limit.lift();
	// Nodes may not import `stream`, but each class of streams inherits `Readable.from`.
	const { from } = body.constructor as unknown as {
		from(source: AsyncIterable<Uint8Array>, options: object): Readable;
	};
	return from(limitEachPause(whole, limit), { objectMode: false });
}

async function* limitEachPause(
	chunks: AsyncIterable<Uint8Array>,
	limit: TimeLimit,
): AsyncGenerator<Uint8Array> {
	for await (const chunk of chunks) {
		// The limit waits while n8n's store has the chunk.
		limit.lift();
		yield chunk;
		limit.restart();
	}
	limit.lift();
}
