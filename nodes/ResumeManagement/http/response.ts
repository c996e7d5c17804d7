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

/** Bytes, unpacked, of a response that is not a file: it is held in memory, and n8n waits while it is parsed. */
const LONGEST_BODY = 16 * 1024 * 1024;

/** Bytes, unpacked, that the node reads of an HTTP error's body: a run may hold one for each open request. */
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
	return await exchange(sender, credential, request, async (response, connection) => {
		const { headers } = response;
		return { headers, body: await readJson(response, connection, checkConfirmation) };
	});
}

/**
 * Reads a response, hides the secrets in it, and judges it.
 * @throws Failure
 */
export async function readJson(
	response: HttpResponse,
	connection: Connection,
	checkConfirmation?: ConfirmationCheck,
): Promise<JsonBody> {
	const { statusCode, headers } = response;
	const isOk = statusCode === 200;
	const { bytes, isTruncated } = isOk
		? { bytes: await readWhole(response, connection), isTruncated: false }
		: await readStart(response, connection, LONGEST_ERROR);
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
export async function readWhole(response: HttpResponse, connection: Connection): Promise<Buffer> {
	const { bytes, isTruncated } = await readStart(response, connection, LONGEST_BODY);
	if (!isTruncated) return bytes;
	const megabytes = LONGEST_BODY / 1024 / 1024;
	const facts = { httpStatus: response.statusCode };
	throw new Failure('response.tooLong', { megabytes }, facts);
}

/** Reads a body up to so many bytes, and ends its request there. */
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
			if (length - pausedAt < BLOCKING_SIZE) continue;
			// Without a pause, Node.js reads everything that all responses have received in one turn of its event loop.
			pausedAt = length;
			await sleep(0);
		}
	} catch (error) {
		throw networkFailure(error, connection.signal, connection.host);
	}
	return { bytes: Buffer.concat(chunks).subarray(0, longest), isTruncated: length > longest };
}

/** Signs that a body may hold a user token: its name, or the status of a token that was issued. */
const MAY_HOLD_TOKEN = /token|success/i;

/**
 * Adds the start of an HTTP error's body, unless the failure has the service's text already, or the body is a web page or
 * may hold a user token.
 */
function withExcerpt(error: unknown, { statusCode, body }: ParsedResponse): unknown {
	const isShown = statusCode >= 400 && !looksLikeHtml(body);
	if (!(error instanceof Failure) || !isShown || 'reported' in error.values) return error;
	const text = typeof body === 'string' ? body.trim() : JSON.stringify(body);
	if (text === '' || MAY_HOLD_TOKEN.test(text)) return error;
	return error.with({ details: `The response began: ${text.slice(0, EXCERPT)}` });
}
