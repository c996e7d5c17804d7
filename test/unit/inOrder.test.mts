import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

import { runInOrder } from '../../nodes/ResumeManagement/run/gate.ts';

/** What an expression does to n8n, for so many milliseconds. */
const block = (milliseconds: number) => {
	const end = performance.now() + milliseconds;
	while (performance.now() < end);
};
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

test('leaves time between two starts, in which a request reaches its socket', async () => {
	const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
	await once(server, 'listening');
	let sockets = 0;
	const before: number[] = [];
	await runInOrder(5, { limit: 5 }, async () => {
		before.push(sockets);
		const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
		socket.once('connect', () => sockets++);
		block(5);
		await once(socket.resume(), 'close');
	});
	server.close();
	expect(before).toEqual([0, 1, 2, 3, 4]);
});

test('starts nothing after a failure, and throws the first in item order', async () => {
	const started: number[] = [];
	const run = runInOrder(10, { limit: 3 }, async (index) => {
		started.push(index);
		await pause(index === 0 ? 20 : 5);
		if (index < 2) throw new Error(`task ${index}`);
	});
	await expect(run).rejects.toThrow('task 0');
	expect(started).toEqual([0, 1, 2]);
});

test('starts nothing once the signal is aborted', async () => {
	const controller = new AbortController();
	const started: number[] = [];
	const run = runInOrder(10, { limit: 1, signal: controller.signal }, async (index) => {
		started.push(index);
		if (index === 2) controller.abort(new Error('cancelled'));
	});
	await expect(run).rejects.toThrow('cancelled');
	expect(started).toEqual([0, 1, 2]);
});

test('starts at most a batch each interval', async () => {
	const begin = Date.now();
	const starts: number[] = [];
	await runInOrder(6, { limit: 32, batch: { size: 2, interval: 60 } }, async () => {
		starts.push(Date.now() - begin);
	});
	expect(starts[2]).toBeGreaterThanOrEqual(55);
	expect(starts[4]).toBeGreaterThanOrEqual(115);
});
