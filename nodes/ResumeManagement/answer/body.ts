import type { Received } from '../request/send';
import { withoutSecrets } from './failure';
import { parseJson } from './json';
import { type AnswerBody, judge } from './judge';
import { networkFailure } from './networkFailure';
import { hideSecrets, type Secrets } from './secrets';

/**
 * Reads an answer whole and judges it. What it may repeat of the secrets is hidden afterwards, so that
 * no secret can change what the answer means.
 * @param signal of the request, which ends the reading too
 * @param unconfirmed see `judge`
 * @returns the body of a success
 * @throws Failure
 */
export async function readBody(
	{ statusCode, body }: Received,
	secrets: Secrets,
	signal: AbortSignal,
	unconfirmed?: (body: AnswerBody) => string | undefined,
): Promise<AnswerBody> {
	const text = await readText(body, signal);
	try {
		const answer = judge({ statusCode, body: parseJson(text) }, unconfirmed);
		return hideSecrets(answer, text, secrets);
	} catch (error) {
		throw withoutSecrets(error, secrets);
	}
}

async function readText(body: Received['body'], signal: AbortSignal): Promise<string> {
	const chunks: Uint8Array[] = [];
	try {
		for await (const chunk of body) chunks.push(chunk as Uint8Array);
	} catch (error) {
		throw networkFailure(error, signal);
	}
	return Buffer.concat(chunks).toString('utf8');
}
