import { networkFailure } from '../http/networkFailure';
import type { HttpResponse, Readable, TimeLimit } from '../http/send';

/** A body, by its first bytes. */
interface Started {
	start: Buffer;
	/** All bytes, the first ones included. They can be read once. */
	whole: AsyncIterable<Uint8Array> | Uint8Array[];
}

/**
 * Reads the first bytes of a body, and puts them back.
 * @param length of the start, unless the body is shorter
 * @throws Failure
 */
export async function readStart(
	{ body, limit, host }: HttpResponse,
	length: number,
): Promise<Started> {
	let start = Buffer.alloc(0);
	try {
		// A chunk may be a single byte.
		for await (const chunk of body.iterator({ destroyOnReturn: false })) {
			start = Buffer.concat([start, chunk as Uint8Array]);
			if (start.length >= length) break;
		}
	} catch (error) {
		throw networkFailure(error, limit.signal, host);
	}
	// Nothing can be put back into a body that has ended.
	if (start.length < length) return { start, whole: [start] };
	body.unshift(start);
	return { start, whole: body };
}

/**
 * Returns a body as a stream for n8n's binary store. From now on, the time limit is for each wait
 * for a chunk: a large file may take any time, and the time that n8n's store takes does not count.
 */
export function toStream({ whole }: Started, { body, limit }: HttpResponse): Readable {
	limit.stop();
	// Nodes may not import `stream`, but each class of streams inherits `Readable.from`.
	const { from } = body.constructor as unknown as {
		from(source: AsyncIterable<Uint8Array>, options: object): Readable;
	};
	return from(limitEachPause(whole, limit), { objectMode: false });
}

async function* limitEachPause(
	chunks: Started['whole'],
	limit: TimeLimit,
): AsyncGenerator<Uint8Array> {
	for await (const chunk of chunks) {
		// The limit waits while n8n's store has the chunk.
		limit.stop();
		yield chunk;
		limit.restart();
	}
	limit.stop();
}
