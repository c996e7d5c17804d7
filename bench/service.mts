import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

/** A service with fixed responses. It runs in another thread, so that it takes no time of the measured process. */
export interface Service {
	/** Returns a base URL whose responses take so many milliseconds. */
	baseUrl(latency: number): string;
	close(): Promise<void>;
}

const megabyte = 1024 * 1024;

export async function startService(): Promise<Service> {
	const worker = new Worker(new URL(import.meta.url));
	const [port] = (await once(worker, 'message')) as [number];
	return {
		baseUrl: (latency) => `http://127.0.0.1:${port}/${latency}/v1`,
		close: async () => void (await worker.terminate()),
	};
}

function serve(): void {
	const block = randomBytes(megabyte).fill('%PDF-1.7\n', 0, 9);
	const server = createServer((request, response) => {
		const path = request.url!;
		request.resume();
		const size = /(\d+)MB/.exec(path)?.[1];
		const latency = Number(path.split('/')[1]);
		void sleep(latency).then(() =>
			size === undefined ? respond(path, response) : download(Number(size), block, response),
		);
	});
	server.listen(0, '127.0.0.1', () => {
		parentPort!.postMessage((server.address() as AddressInfo).port);
	});
}

function respond(id: string, response: ServerResponse): void {
	// The node accepts an upgrade only if the response has the requested plan.
	const person = id.endsWith('/upgrade') ? {} : { id, email: 'nathan@example.com', name: 'Nathan' };
	const data = { ...person, plan_id: 'plan-pro' };
	response.writeHead(200, { 'Content-Type': 'application/json' });
	response.end(JSON.stringify({ status: 'success', data }));
}

async function download(blocks: number, block: Buffer, response: ServerResponse): Promise<void> {
	response.writeHead(200, {
		'Content-Type': 'application/pdf',
		'Content-Length': blocks * block.length,
	});
	for (let sent = 0; sent < blocks; sent++) {
		if (!response.write(block)) await once(response, 'drain');
	}
	response.end();
}

if (!isMainThread) serve();
