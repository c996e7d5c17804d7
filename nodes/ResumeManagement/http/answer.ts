import { type IDataObject, sleep } from 'n8n-workflow';

import { decodeText, parseJson } from '../../shared/json';
import { hideSecrets, type Secrets } from '../../shared/secrets';
import type { Credential } from './credential';
import { Failure, withoutSecrets } from './failure';
import { type AnswerBody, judge, looksLikeHtml, type Unconfirmed } from './judge';
import { networkFailure } from './networkFailure';
import {
	type Connection,
	exchange,
	type HttpRequest,
	leave,
	type Received,
	type Sender,
} from './send';

/** Bytes, unpacked, of an answer that is not a file: it is held in memory, and n8n waits while it is parsed. */
export const LONGEST_ANSWER = 32 * 1024 * 1024;

/** Characters of an answer that an error shows. */
const EXCERPT = 200;

/** A successful answer. */
export interface Reply {
	statusCode: number;
	headers: IDataObject;
	body: AnswerBody;
}

/**
 * Sends a request, and reads its answer.
 * @param unconfirmed of a write; see `judge`
 * @throws Failure
 */
export async function requestAnswer(
	sender: Sender,
	credential: Credential,
	request: HttpRequest,
	unconfirmed?: Unconfirmed,
): Promise<Reply> {
	return await exchange(sender, credential, request, async (received, connection) => {
		const { statusCode, headers } = received;
		const body = await readAnswer(received, connection, unconfirmed);
		return { statusCode, headers, body };
	});
}

/**
 * Reads an answer whole and judges it. What it may repeat of the secrets is hidden afterwards, so that
 * no secret can change what the answer means.
 */
async function readAnswer(
	received: Received,
	connection: Connection,
	unconfirmed?: Unconfirmed,
): Promise<AnswerBody> {
	const { statusCode, headers } = received;
	const { secrets } = connection;
	const bytes = await readWhole(received, connection);
	return await inTurn(bytes.length, () => {
		const text = decodeText(bytes, headers['content-type']);
		if (text === undefined) throw new Failure('answer.characters', {}, { httpStatus: statusCode });
		try {
			return hideSecrets(judge({ statusCode, body: parseJson(text) }, unconfirmed), secrets, text);
		} catch (error) {
			throw withoutSecrets(withExcerpt(error, text, secrets), secrets);
		}
	});
}

/** Bytes of an answer that keeps n8n busy for several milliseconds. */
const LONG_ANSWER = 256 * 1024;

/** Settled when n8n has had a turn of its event loop after the last long answer. */
let afterLong: Promise<unknown> = Promise.resolve();

/** Parses long answers one at a time, of whatever run, so that n8n can answer others in between. */
export async function inTurn<T>(length: number, parse: () => T): Promise<T> {
	if (length < LONG_ANSWER) return parse();
	const parsed = afterLong.then(parse);
	afterLong = parsed.catch(() => {}).then(async () => await sleep(0));
	return await parsed;
}

async function readWhole({ statusCode, body }: Received, connection: Connection): Promise<Buffer> {
	const chunks = body[Symbol.asyncIterator]();
	const { bytes, whole } = await readBytes(chunks, LONGEST_ANSWER + 1).catch((error: unknown) => {
		throw networkFailure(error, connection.signal);
	});
	if (whole) return bytes;
	leave(body, connection.abort);
	const megabytes = LONGEST_ANSWER / 1024 / 1024;
	throw new Failure('answer.tooLong', { megabytes }, { httpStatus: statusCode });
}

/**
 * Reads on until there are so many bytes, or no more come.
 * @param start what has been read before
 * @returns all bytes, and whether there are no more; or throws what the body's stream threw
 */
export async function readBytes(
	body: AsyncIterator<Uint8Array>,
	enough: number,
	start = Buffer.alloc(0),
): Promise<{ bytes: Buffer<ArrayBuffer>; whole: boolean }> {
	const chunks: Uint8Array[] = [start];
	let { length } = start;
	let pausedAt = length;
	while (length < enough) {
		const { value, done } = await body.next();
		if (done) return { bytes: Buffer.concat(chunks), whole: true };
		chunks.push(value);
		length += value.length;
		if (length - pausedAt < LONG_ANSWER) continue;
		// Else Node.js reads what has come of all answers in one turn of its event loop.
		pausedAt = length;
		await sleep(0);
	}
	return { bytes: Buffer.concat(chunks), whole: false };
}

/** An issued token is a secret, too. */
const TOKEN = /("[^"]{0,40}token[^"]{0,40}"\s{0,9}:\s{0,9}")[^"]*/gi;

/** Adds how the answer begins, where the service's words are not in the failure yet, and are no web page. */
function withExcerpt(error: unknown, text: string, secrets: Secrets): unknown {
	if (!(error instanceof Failure) || 'words' in error.values || looksLikeHtml(text)) return error;
	// Longer than the excerpt, so that no secret is cut before it is hidden.
	const start = hideSecrets(text.slice(0, 65_536), secrets).replace(TOKEN, '$1[hidden]');
	const excerpt = start.trim().slice(0, EXCERPT);
	if (excerpt === '') return error;
	return error.with({ description: `${error.description} It answered: ${excerpt}` });
}
