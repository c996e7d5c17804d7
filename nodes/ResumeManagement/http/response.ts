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
	type Unconfirmed,
} from './judge';
import { networkFailure } from './networkFailure';
import {
	type Connection,
	discard,
	exchange,
	type HttpRequest,
	type HttpResponse,
	type Sender,
} from './send';

/** Bytes, unpacked, of a response that is not a file: it is held in memory, and n8n waits while it is parsed. */
const LONGEST_BODY = 32 * 1024 * 1024;

/** Characters of a response that an error shows. */
const EXCERPT = 200;

/** A successful response. */
export interface JsonResponse {
	headers: IDataObject;
	body: JsonBody;
}

/**
 * Sends a request, and reads and judges its response.
 * @param unconfirmed of a write; see `judge`
 * @throws Failure
 */
export async function requestJson(
	sender: Sender,
	credential: Credential,
	request: HttpRequest,
	unconfirmed?: Unconfirmed,
): Promise<JsonResponse> {
	return await exchange(sender, credential, request, async (received, connection) => {
		const { headers } = received;
		return { headers, body: await readJson(received, connection, unconfirmed) };
	});
}

/**
 * Reads a response whole, hides the secrets in it, and judges it.
 * @throws Failure
 */
export async function readJson(
	received: HttpResponse,
	connection: Connection,
	unconfirmed?: Unconfirmed,
): Promise<JsonBody> {
	const { statusCode, headers } = received;
	const bytes = await readWhole(received, connection);
	return await oneAtATime(bytes.length, () => {
		const text = decodeText(bytes, headers['content-type']);
		if (text === undefined && statusCode === 200) {
			throw new Failure('response.characters', {}, { httpStatus: 200 });
		}
		const parsed = parseJson(text ?? '');
		const value = parsed ? parsed.value : text;
		const shown = { statusCode, body: hideSecrets(value, connection.secrets) };
		try {
			return judge(shown, unconfirmed);
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
async function oneAtATime<T>(length: number, parse: () => T): Promise<T> {
	if (length < LONG_BODY) return parse();
	const parsed = afterLong.then(parse);
	afterLong = parsed.catch(() => {}).then(async () => await sleep(TURN));
	return await parsed;
}

/**
 * Reads a body whole.
 * @throws Failure
 */
export async function readWhole(
	{ statusCode, body }: HttpResponse,
	connection: Connection,
): Promise<Buffer> {
	const chunks: Uint8Array[] = [];
	let length = 0;
	let pausedAt = 0;
	try {
		for await (const chunk of body as AsyncIterable<Uint8Array>) {
			chunks.push(chunk);
			length += chunk.length;
			if (length > LONGEST_BODY) break;
			if (length - pausedAt < LONG_BODY) continue;
			// Else Node.js reads all that has come of all responses in one turn of its event loop.
			pausedAt = length;
			await sleep(0);
		}
	} catch (error) {
		throw networkFailure(error, connection.signal, connection.host);
	}
	if (length <= LONGEST_BODY) return Buffer.concat(chunks);
	discard(body, connection.abort);
	const megabytes = LONGEST_BODY / 1024 / 1024;
	throw new Failure('response.tooLong', { megabytes }, { httpStatus: statusCode });
}

/**
 * Adds the start of an HTTP error's body, unless the failure has the service's words already, or the body is a web
 * page. Responses with other statuses are not shown: they may hold a user token.
 */
function withExcerpt(error: unknown, { statusCode, body }: ParsedResponse): unknown {
	const isShown = statusCode >= 400 && !looksLikeHtml(body);
	if (!(error instanceof Failure) || !isShown || 'words' in error.values) return error;
	const text = typeof body === 'string' ? body : JSON.stringify(body);
	const excerpt = text
		.slice(0, 10 * EXCERPT)
		.trim()
		.slice(0, EXCERPT);
	if (excerpt === '') return error;
	return error.with({ details: `The response began: ${excerpt}` });
}
