import { shared } from './environment.mts';

/** Seconds of the longest usual pause, which {@link useTimers} skips. */
export const PAUSE = '59';

/** Stands in for the nodes' time limits and longest pauses, so that no test waits for a clock. */
export function useTimers() {
	const limits = new Set<AbortController>();
	const { setTimeout } = shared;
	let pauses = 0;
	beforeAll(() => {
		jest.spyOn(shared.AbortSignal, 'timeout').mockImplementation(() => {
			const limit = new AbortController();
			limits.add(limit);
			return limit.signal;
		});
		jest.spyOn(shared, 'setTimeout').mockImplementation(((run: () => void, delay?: number) => {
			if (delay !== Number(PAUSE) * 1_000) return setTimeout(run, delay);
			pauses++;
			return setTimeout(run);
		}) as typeof setTimeout);
	});
	beforeEach(() => {
		limits.clear();
		pauses = 0;
	});
	afterAll(() => void jest.restoreAllMocks());
	return {
		expire() {
			for (const limit of limits) limit.abort(new DOMException('', 'TimeoutError'));
			limits.clear();
		},
		pauses: () => pauses,
	};
}
