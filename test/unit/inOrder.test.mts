import { runInParallel } from '../../nodes/ResumeManagement/run/entry.ts';
import { Pace } from '../../nodes/ResumeManagement/run/run.ts';
import { shared } from '../support/environment.mts';

const indexes = (count: number) => [...Array(count).keys()];

test.each([
	['long', 6, [0, 1, 2, 3]],
	['short', 0, [0, 0, 0, 0]],
])('a turn of the event loop comes after %s work', async (_, work, expected) => {
	let [clock, turns] = [0, 0];
	jest.spyOn(Date, 'now').mockImplementation(() => clock);
	const before: number[] = [];
	await runInParallel(indexes(4), 4, new Pace(), async () => {
		before.push(turns);
		setImmediate(() => turns++);
		clock += work;
	});
	jest.restoreAllMocks();
	expect(before).toEqual(expected);
});

test('nothing is started after a failure, and the first in item order is thrown', async () => {
	const ends = [0, 1].map(() => Promise.withResolvers<void>());
	const started: number[] = [];
	const run = runInParallel(indexes(10), 3, new Pace(), async (index) => {
		started.push(index);
		if (index < 2) return await ends[index]!.promise;
		ends[1]!.reject(new Error('task 1'));
		setImmediate(() => ends[0]!.reject(new Error('task 0')));
	});
	await expect(run).rejects.toThrow('task 0');
	expect(started).toEqual([0, 1, 2]);
});

test('nothing is started once the signal is aborted, and a run that was done stays done', async () => {
	for (const count of [10, 3]) {
		const controller = new AbortController();
		const started: number[] = [];
		const pace = new Pace(undefined, controller.signal);
		const run = runInParallel(indexes(count), 1, pace, async (index) => {
			started.push(index);
			if (index === 2) controller.abort();
		});
		if (count > 3) await expect(run).rejects.toThrow('cancelled');
		else await run;
		expect(started).toEqual([0, 1, 2]);
	}
});

test('at most a batch is started each interval', async () => {
	const pauses: number[] = [];
	const { setTimeout } = shared;
	jest.spyOn(Date, 'now').mockReturnValue(1_000);
	jest.spyOn(shared, 'setTimeout').mockImplementation(((run: () => void, delay = 0) => {
		pauses.push(delay);
		return setTimeout(run);
	}) as typeof setTimeout);
	await runInParallel(indexes(6), 32, new Pace({ size: 2, interval: 60 }), async () => {});
	jest.restoreAllMocks();
	expect(pauses).toEqual([60, 60, 120, 120]);
});
