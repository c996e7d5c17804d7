import { type IDataObject, sleep } from 'n8n-workflow';

import { Failure } from '../../shared/failure';
import { decodeText, parseJson } from '../../shared/json';
import { hideSecrets } from '../../shared/secrets';
import type { Credential } from './credential';
import {
	type JsonBody,
	type ParsedResponse,
	judge,
	looksLikeHtml,
	type ConfirmationCheck,
} from './judge';
import { networkFailure } from './networkFailure';
import {
	type Connection,
	exchange,
	type HttpRequest,
	type HttpResponse,
	type Sender,
} from './send';

/** Bytes, unpacked, of a response that is not a file: n8n holds it in memory, and waits while it is parsed. */
const LONGEST_BODY = 16 * 1024 * 1024;

/** Bytes, unpacked, that are read of an HTTP error: a run may hold one for each of its open requests. */
const LONGEST_ERROR = 64 * 1024;

/** Characters of a response that an error shows. */
const EXCERPT = 200;

/** A successful response. */
export interface JsonResponse {
	headers: IDataObject;
	body: JsonBody;
}

/**
 * Sends a request, and reads and judges its response.
 * @param checkConfirmation of a write; see `judge`
 * @throws Failure
 */
export async function requestJson(
	sender: Sender,
	credential: Credential,
	request: HttpRequest,
	checkConfirmation?: ConfirmationCheck,
): Promise<JsonResponse> {
	return await exchange(sender, credential, request, async (received, connection) => {
		const { headers } = received;
		return { headers, body: await readJson(received, connection, checkConfirmation) };
	});
}

/**
 * Reads a response, hides the secrets in it, and judges it.
 * @throws Failure
 */
export async function readJson(
	received: HttpResponse,
	connection: Connection,
	checkConfirmation?: ConfirmationCheck,
): Promise<JsonBody> {
	const { statusCode, headers } = received;
	const isOk = statusCode === 200;
	const { bytes, isTruncated } = isOk
		? { bytes: await readWhole(received, connection), isTruncated: false }
		: await readStart(received, connection, LONGEST_ERROR);
	return await parseInQueue(bytes.length, () => {
		const text = decodeText(bytes, headers['content-type']);
		if (text === undefined && isOk) {
			throw new Failure('response.characters', {}, { httpStatus: 200 });
		}
		const parsed = parseJson(text ?? '');
		const value = parsed ? parsed.value : (text ?? '');
		const shown = { statusCode, body: hideSecrets(value, connection.secrets), isTruncated };
		try {
			return judge(shown, checkConfirmation);
		} catch (error) {
			throw withExcerpt(error, shown);
		}
	});
}

/** Bytes of a response that keeps n8n busy for several milliseconds. */
const LONG_BODY = 256 * 1024;

/** Milliseconds for other work of n8n, such as a request, which takes several turns of the event loop. */
const TURN = 5;

/** Settled when n8n has had time for other work after the last long response. */
let afterLong: Promise<unknown> = Promise.resolve();

/** Parses long responses one at a time, of all runs, so that n8n can handle other requests in between. */
async function parseInQueue<T>(length: number, parse: () => T): Promise<T> {
	if (length < LONG_BODY) return parse();
	const parsed = afterLong.then(parse);
	afterLong = parsed.catch(() => {}).then(async () => await sleep(TURN));
	return await parsed;
}

/**
 * Reads a body whole.
 * @throws Failure
 */
export async function readWhole(received: HttpResponse, connection: Connection): Promise<Buffer> {
	const { bytes, isTruncated } = await readStart(received, connection, LONGEST_BODY);
	if (!isTruncated) return bytes;
	const megabytes = LONGEST_BODY / 1024 / 1024;
	const facts = { httpStatus: received.statusCode };
	throw new Failure('response.tooLong', { megabytes }, facts);
}

/**
 * Reads a body up to so many bytes, and ends its request there.
 * @throws Failure
 */
async function readStart(
	{ body }: HttpResponse,
	connection: Connection,
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
			if (length - pausedAt < LONG_BODY) continue;
			// Without a pause, Node.js reads all that has come of all responses in one turn of its event loop.
			pausedAt = length;
			await sleep(0);
		}
	} catch (error) {
		throw networkFailure(error, connection.signal, connection.host);
	}
	return { bytes: Buffer.concat(chunks).subarray(0, longest), isTruncated: length > longest };
}

/** Words of a body that may hold a user token, whatever its form and its HTTP status. */
const MAY_HOLD_TOKEN = /token|success/i;

/**
 * Adds the start of an HTTP error's body, unless the failure has the service's words already, or the body is a web
 * page or may hold a user token.
 */
function withExcerpt(error: unknown, { statusCode, body }: ParsedResponse): unknown {
	const isShown = statusCode >= 400 && !looksLikeHtml(body);
	if (!(error instanceof Failure) || !isShown || 'words' in error.values) return error;
	const text = typeof body === 'string' ? body.trim() : JSON.stringify(body);
	if (text === '' || MAY_HOLD_TOKEN.test(text)) return error;
	return error.with({ details: `The response began: ${text.slice(0, EXCERPT)}` });
}
