import type { Readable } from 'node:stream';

import axios, { isAxiosError } from 'axios';

import type { WebhookRegistration } from './registration.mts';
import { signatureHeaders } from './signature.mts';

/** How an attempt ended. */
export interface Outcome {
	/** HTTP status of the answer; `null` when none came. */
	status: number | null;
	/** Why this was no delivery, in a sentence; `null` for a status of 2xx. */
	error: string | null;
}

/** For a whole attempt, from the connection to the end of the answer. */
const TIMEOUT_IN_MS = 10_000;

/** How many characters of an answer are kept. */
const EXCERPT_LENGTH = 300;

/**
 * Sends a body once, straight to the receiver: redirects are not followed and no proxy is used.
 *
 * @param stop cuts the attempt short
 * @returns `undefined` when the attempt was cut short and its outcome is not known
 */
export async function send(
	webhook: WebhookRegistration,
	eventId: string,
	body: Uint8Array,
	stop: AbortSignal,
): Promise<Outcome | undefined> {
	const timeout = AbortSignal.timeout(TIMEOUT_IN_MS);
	try {
		const { status, data } = await axios.post<Readable>(webhook.url, Buffer.from(body), {
			headers: {
				'Content-Type': 'application/json',
				'User-Agent': 'resume-management-sandbox',
				...signatureHeaders(webhook, eventId, body, Math.floor(Date.now() / 1000)),
			},
			maxRedirects: 0,
			proxy: false,
			responseType: 'stream',
			validateStatus: () => true,
			signal: AbortSignal.any([stop, timeout]),
		});
		const excerpt = await readStart(data);
		return { status, error: judge(status, excerpt) };
	} catch (error) {
		if (stop.aborted) return undefined;
		return {
			status: null,
			error: timeout.aborted
				? `The receiver did not answer within ${TIMEOUT_IN_MS / 1000} seconds.`
				: `The receiver could not be reached (${reasonOf(error)}). Check that it is running and that the address is right.`,
		};
	}
}

function judge(status: number, excerpt: string): string | null {
	if (status >= 200 && status < 300) return null;
	if (status >= 300 && status < 400) {
		return `The receiver answered HTTP ${status}. Redirects are not followed: register the final address.`;
	}
	return `The receiver answered HTTP ${status}${excerpt === '' ? ' without a text.' : `: ${excerpt}`}`;
}

/** The beginning of an answer's body; what has come so far when the rest does not arrive. */
async function readStart(answer: Readable): Promise<string> {
	let text = '';
	try {
		for await (const chunk of answer.setEncoding('utf8')) {
			text += String(chunk);
			if (text.length >= EXCERPT_LENGTH) break;
		}
	} catch {
		// The status has arrived, and it alone decides.
	}
	return text.slice(0, EXCERPT_LENGTH).trim();
}

function reasonOf(error: unknown): string {
	const reason = isAxiosError(error) ? error.code : undefined;
	return reason ?? (error instanceof Error ? error.message : String(error));
}
