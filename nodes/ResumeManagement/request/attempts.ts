import type { IDataObject } from 'n8n-workflow';

import { Failure } from '../answer/failure';
import { pause } from './pause';

export interface Attempts {
	/** How often a request may be repeated. */
	retries: number;
	write: boolean;
	signal?: AbortSignal;
}

/** Milliseconds; the n-th pause is between none and `FIRST_PAUSE * 2^n`, for many clients not to meet again. */
const FIRST_PAUSE = 500;

/** Milliseconds: a longer pause that the service asks for is told to the user and not waited for. */
const LONGEST_PAUSE = 60_000;

/**
 * Makes attempts until one succeeds, fails for good, or was the last.
 * @throws Failure of the last attempt
 */
export async function withRetries<T>(
	{ retries, write, signal }: Attempts,
	attempt: () => Promise<T>,
): Promise<T> {
	for (let attempts = 0; ; attempts++) {
		if (signal?.aborted) throw CANCELLED;
		try {
			return await attempt();
		} catch (error) {
			const asked = error instanceof Failure ? (error.retryAfter ?? 0) : 0;
			if (!mayRepeat(error, write) || attempts >= retries || asked > LONGEST_PAUSE) {
				throw withPause(error);
			}
			await pause(Math.max(asked, Math.random() * FIRST_PAUSE * 2 ** attempts), signal);
		}
	}
}

/**
 * The one place that decides whether the same request may be sent again by itself: it may succeed
 * then, and, where it is a write, the service did nothing yet and nobody has to act first.
 */
function mayRepeat(error: unknown, write: boolean): boolean {
	if (!(error instanceof Failure) || !error.transient) return false;
	return !write || (!error.mayHaveHappened && !error.held);
}

const CANCELLED = new Failure(
	'The execution was cancelled before the request was sent',
	'Run it again if it was not meant to be cancelled.',
	{ mayHaveHappened: false },
);

function withPause(error: unknown): unknown {
	if (!(error instanceof Failure) || !error.retryAfter) return error;
	const { description, retryAfter } = error;
	const seconds = Math.ceil(retryAfter / 1000).toLocaleString('en-US');
	return error.with({
		description: `The service asks to wait ${seconds} seconds before the next request. ${description}`,
	});
}

/** The milliseconds that a Retry-After header asks for, in seconds or as a date (RFC 9110, §10.2.3). */
export function readRetryAfter(headers: IDataObject): number | undefined {
	const value = String(headers['retry-after'] ?? '').trim();
	if (value === '') return undefined;
	const seconds = Number(value);
	// A date is counted from the service's own clock, which may differ from this one.
	const milliseconds = Number.isNaN(seconds)
		? Date.parse(value) - (Date.parse(String(headers.date)) || Date.now())
		: seconds * 1000;
	return milliseconds > 0 ? milliseconds : undefined;
}
