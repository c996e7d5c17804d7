import { runInOrder } from '../../nodes/ResumeManagement/run/gate.ts';

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

test('a turn of the event loop comes between two starts', async () => {
	let turns = 0;
	const before: number[] = [];
	await runInOrder(5, { limit: 5 }, async () => {
		before.push(turns);
		setImmediate(() => turns++);
		await pause(20);
	});
	expect(before).toEqual([0, 1, 2, 3, 4]);
});

test('nothing is started after a failure, and the first in item order is thrown', async () => {
	const started: number[] = [];
	const run = runInOrder(10, { limit: 3 }, async (index) => {
		started.push(index);
		await pause(index === 0 ? 20 : 5);
		if (index < 2) throw new Error(`task ${index}`);
	});
	await expect(run).rejects.toThrow('task 0');
	expect(started).toEqual([0, 1, 2]);
});

test('nothing is started once the signal is aborted', async () => {
	const controller = new AbortController();
	const started: number[] = [];
	const run = runInOrder(10, { limit: 1, signal: controller.signal }, async (index) => {
		started.push(index);
		if (index === 2) controller.abort();
	});
	await expect(run).rejects.toThrow('cancelled');
	expect(started).toEqual([0, 1, 2]);
});

test('at most a batch is started each interval', async () => {
	const begin = Date.now();
	const starts: number[] = [];
	await runInOrder(6, { limit: 32, batch: { size: 2, interval: 60 } }, async () => {
		starts.push(Date.now() - begin);
	});
	expect(starts[2]).toBeGreaterThanOrEqual(55);
	expect(starts[4]).toBeGreaterThanOrEqual(115);
});
