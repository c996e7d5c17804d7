import { networkFailure } from '../http/networkFailure';
import type { HttpResponse, Readable, TimeLimit } from '../http/send';

/** A body whose start was read. */
interface StartedBody {
	/** The first bytes. */
	start: Buffer;
	/** All bytes, the first ones included. The stream fails with the error of the body. */
	whole: Readable;
}

/**
 * Reads the start of a body, and returns it with a stream of the whole body. The time limit is for each wait for a chunk: the
 * time that the reader of the stream takes between chunks does not count.
 * @param length bytes of the start, unless the body is shorter
 * @throws Failure
 */
export async function readStart(response: HttpResponse, length: number): Promise<StartedBody> {
	const { body, limit, host } = response;
	const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
	let start = Buffer.alloc(0);
	try {
		// A chunk may be a single byte.
		while (start.length < length) {
			const chunk = await nextChunk(chunks, limit);
			if (!chunk) break;
			start = Buffer.concat([start, chunk]);
		}
	} catch (error) {
		throw networkFailure(error, limit.signal, host);
	}
	return { start, whole: toStream(wholeBody(start, chunks, response), body) };
}

/** Waits for the next chunk; undefined at the end of the body. */
async function nextChunk(
	chunks: AsyncIterator<Uint8Array>,
	limit: TimeLimit,
): Promise<Uint8Array | undefined> {
	limit.restart();
	const { value, done } = await chunks.next();
	limit.lift();
	return done ? undefined : value;
}

async function* wholeBody(
	start: Uint8Array,
	rest: AsyncIterator<Uint8Array>,
	{ body, limit }: HttpResponse,
): AsyncGenerator<Uint8Array> {
	try {
		let chunk: Uint8Array | undefined = start;
		while (chunk) {
			yield chunk;
			chunk = await nextChunk(rest, limit);
		}
	} finally {
		// Closes the connection if the reader stops before the end.
		body.destroy();
	}
}

/** Calls `Readable.from` of Node.js, which each class of streams inherits: nodes may not import `stream`. */
function toStream(chunks: AsyncIterable<Uint8Array>, { constructor }: Readable): Readable {
	const { from } = constructor as unknown as {
		from(source: AsyncIterable<Uint8Array>, options: object): Readable;
	};
	return from(chunks, { objectMode: false });
}
