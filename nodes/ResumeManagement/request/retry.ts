import { sleep } from 'n8n-workflow';
import type { IDataObject } from 'n8n-workflow';

import type { Failure } from './failure';

export interface Retries {
	/** How often a request may be repeated. */
	retries: number;
	/** Writes are repeated only where the service can't have carried them out. */
	write: boolean;
	/** Milliseconds that one attempt may take; all of them and their pauses take `retries + 1` times as much. */
	timeout: number;
	signal?: AbortSignal;
}

/** HTTP statuses after which the same request may succeed. */
const TRANSIENT = [429, 500, 502, 503, 504];

/** Milliseconds; the n-th pause is between none and `FIRST_PAUSE * 2^n`, for many clients not to meet again. */
const FIRST_PAUSE = 500;

/**
 * Makes attempts until one succeeds, fails for good, or no time is left for another.
 * @param attempt gets the milliseconds that it may take
 */
export async function withRetries<T extends object>(
	{ retries, write, timeout, signal }: Retries,
	attempt: (timeout: number) => Promise<T | { failure: Failure }>,
): Promise<T | { failure: Failure }> {
	const deadline = Date.now() + timeout * (retries + 1);
	for (let attempts = 0; ; attempts++) {
		const result = await attempt(Math.min(timeout, deadline - Date.now()));
		if (!('failure' in result) || attempts === retries || signal?.aborted) return result;
		const { failure } = result;
		if (!(write ? isUndelivered(failure) : isTransient(failure))) return result;
		const pause = failure.retryAfter ?? Math.random() * FIRST_PAUSE * 2 ** attempts;
		if (Date.now() + pause >= deadline) return result;
		await wait(pause, signal);
	}
}

/** The milliseconds that a Retry-After header asks for, which gives seconds or a date (RFC 9110). */
export function readRetryAfter(headers: IDataObject): number | undefined {
	const value = String(headers['retry-after'] ?? '').trim();
	if (/^\d+$/.test(value)) return Number(value) * 1000;
	// Counted from the service's own clock, which may differ from this one.
	const now = Date.parse(String(headers.date)) || Date.now();
	const pause = Date.parse(value) - now;
	return Number.isNaN(pause) ? undefined : Math.max(0, pause);
}

function isTransient({ unanswered, permanent, httpStatus }: Failure): boolean {
	return unanswered ? !permanent : TRANSIENT.includes(httpStatus ?? 0);
}

function isUndelivered({ unanswered, permanent, httpStatus }: Failure): boolean {
	return unanswered === 'notSent' ? !permanent : httpStatus === 429;
}

async function wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
	await new Promise<void>((resolve) => {
		signal?.addEventListener('abort', () => resolve(), { once: true });
		void sleep(milliseconds).then(resolve);
	});
}
