import { sleep } from 'n8n-workflow';

/** Waits for the time to pass, or for the signal to be aborted. */
export async function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
	if (signal?.aborted) return;
	let end = () => {};
	const aborted = new Promise<void>((resolve) => (end = resolve));
	signal?.addEventListener('abort', end, { once: true });
	await Promise.race([sleep(milliseconds), aborted]);
	signal?.removeEventListener('abort', end);
}
