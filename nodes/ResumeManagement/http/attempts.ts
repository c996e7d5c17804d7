import { type IDataObject, sleep } from 'n8n-workflow';

import { Failure } from '../../shared/failure';
import type { HttpRequest } from './send';

/** Milliseconds. The pause after attempt n (from 0) is random, up to `FIRST_PAUSE * 2^n` and the longest: clients spread out. */
const FIRST_PAUSE = 500;

/** Milliseconds. If the service asks for a longer pause, the request fails, with the pause in its error. */
export const LONGEST_PAUSE = 60_000;

/** Repeats an attempt until it succeeds, must not be repeated, or was the last, whose Failure is thrown. */
export async function withRetries<T>(
	request: Pick<HttpRequest, 'retries' | 'write'>,
	cancelled: AbortSignal | undefined,
	attempt: () => Promise<T>,
	earlier = 0,
): Promise<T> {
	if (cancelled?.aborted) throw new Failure('network.notSent', {}, { outcome: 'refused' });
	return await attempt().catch(async (error: unknown) => {
		const wait = error instanceof Failure ? (error.facts.retryAfter ?? 0) : 0;
		const isLast = earlier >= request.retries || wait > LONGEST_PAUSE;
		if (isLast || !mayRepeat(error, request.write)) throw error;
		const longest = Math.min(FIRST_PAUSE * 2 ** earlier, LONGEST_PAUSE);
		await pause(Math.max(wait, Math.random() * longest), cancelled);
		if (cancelled?.aborted) throw error;
		return await withRetries(request, cancelled, attempt, earlier + 1);
	});
}

/** Checks whether the same request may succeed later and, for a write, may be sent again: `refused`, and not `held`. */
function mayRepeat(error: unknown, write = false): boolean {
	if (!(error instanceof Failure) || !error.facts.transient) return false;
	return !write || error.outcome === 'refused';
}

/** Returns the milliseconds that a Retry-After header asks for, in seconds or as a date (RFC 9110, §10.2.3). */
export function retryAfterOf(headers: IDataObject): number | undefined {
	const value = String(headers['retry-after'] ?? '').trim();
	if (value === '') return undefined;
	const seconds = Number(value);
	// A date is counted from the service's own clock, which may differ from this one.
	const milliseconds = Number.isNaN(seconds)
		? Date.parse(value) - (Date.parse(String(headers.date)) || Date.now())
		: seconds * 1000;
	return milliseconds > 0 && Number.isFinite(milliseconds) ? milliseconds : undefined;
}

/** Waits so many milliseconds, or until the signal is aborted. */
export async function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
	if (signal?.aborted) return;
	let end = () => {};
	const aborted = new Promise<void>((resolve) => (end = resolve));
	signal?.addEventListener('abort', end, { once: true });
	await Promise.race([sleep(milliseconds), aborted]);
	signal?.removeEventListener('abort', end);
}
