import { sleep } from 'n8n-workflow';

import { Failure } from '../../shared/failure';
import { decodeText, parseJson } from '../../shared/json';
import { hideSecrets } from '../../shared/secrets';
import { retryAfterOf, withRetries } from './attempts';
import { type JsonBody, judge, type ParsedResponse } from './judge';
import { networkFailure } from './networkFailure';
import { type HttpRequest, type HttpResponse, send, type Sender } from './send';

/** Bytes, unpacked, of a response that is not a file: it is held in memory, and n8n waits while it is parsed. */
export const LONGEST_BODY = 16 * 1024 * 1024;

/** Bytes, unpacked, that the node reads of an HTTP error's body: a run may hold one for each open request. */
export const LONGEST_ERROR = 64 * 1024;

/** A successful response. */
export type JsonResponse = Pick<ParsedResponse, 'headers'> & { body: JsonBody };

/** Sends a request, with retries, and returns its response if that is a success. @throws Failure */
export async function requestJson(sender: Sender, request: HttpRequest): Promise<JsonResponse> {
	return await withRetries(request, sender.cancelled, async () => {
		const response = await readJson(await send(sender, request));
		return { headers: response.headers, body: judge(response) };
	});
}

/** Reads and parses a response, and hides the secrets in it. @throws Failure */
export async function readJson(response: HttpResponse): Promise<ParsedResponse> {
	const { statusCode, headers, secrets } = response;
	const isOk = statusCode === 200;
	const { bytes, isTruncated } = isOk
		? { bytes: await readWhole(response), isTruncated: false }
		: await readStart(response, LONGEST_ERROR);
	return await parseInQueue(bytes.length, () => {
		const text = decodeText(bytes, headers['content-type']);
		if (text === undefined && isOk) {
			throw new Failure('response.characters', {}, { httpStatus: 200 });
		}
		// A secret that was cut can't be found, so the end of a truncated body is left out.
		const cutLength = isTruncated ? Math.max(...secrets.map(({ length }) => length)) : 0;
		const kept = (text ?? '').slice(0, Math.max(0, (text ?? '').length - cutLength));
		const parsed = parseJson(kept);
		const body = hideSecrets(parsed ? parsed.value : kept, secrets);
		return { statusCode, headers, body, isTruncated };
	});
}

/** Bytes. To read or parse more of them at once keeps n8n busy for several milliseconds. */
const BLOCKING_SIZE = 256 * 1024;

/** Milliseconds for n8n's other work: a request takes several turns of the event loop. */
const OTHER_WORK = 5;

/** Resolved when n8n has had time for other work after the last long response. */
let afterLong: Promise<unknown> = Promise.resolve();

/** Parses the long responses of all runs one at a time, so that n8n can handle other requests in between. */
async function parseInQueue<T>(length: number, parse: () => T): Promise<T> {
	if (length < BLOCKING_SIZE) return parse();
	const parsed = afterLong.then(parse);
	afterLong = parsed.catch(() => {}).then(async () => await sleep(OTHER_WORK));
	return await parsed;
}

/** @throws Failure if the body is too long, or was not received whole */
export async function readWhole(response: HttpResponse): Promise<Buffer> {
	const { bytes, isTruncated } = await readStart(response, LONGEST_BODY);
	if (!isTruncated) return bytes;
	const megabytes = LONGEST_BODY / 1024 / 1024;
	throw new Failure('response.tooLong', { megabytes }, { httpStatus: response.statusCode });
}

/** Reads a body up to so many bytes, and ends its request there. */
async function readStart(
	{ body, headers, host, clock }: HttpResponse,
	longest: number,
): Promise<{ bytes: Buffer; isTruncated: boolean }> {
	const chunks: Uint8Array[] = [];
	let length = 0;
	let pausedAt = 0;
	try {
		for await (const chunk of body as AsyncIterable<Uint8Array>) {
			chunks.push(chunk);
			length += chunk.length;
			// Leaving the loop destroys the stream, which closes its connection.
			if (length > longest) break;
			if (length - pausedAt < BLOCKING_SIZE) continue;
			// Without a pause, Node.js reads everything that all responses have received in one turn of its event loop.
			pausedAt = length;
			await sleep(0);
		}
	} catch (error) {
		const retryAfter = retryAfterOf(headers);
		throw networkFailure(error, clock.signal, host).with({ retryAfter });
	} finally {
		clock.stop();
	}
	return { bytes: Buffer.concat(chunks).subarray(0, longest), isTruncated: length > longest };
}
