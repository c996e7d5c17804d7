import { randomBytes } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import {
	outputOf,
	startEmptyInstance,
	startMilliseconds,
	type EmptyInstance,
} from './instance.mts';

/** Memory of n8n's own process, with the filesystem as its binary store. */

const MEGABYTE = 1024 * 1024;
/** How much more memory a file of 1 GB may take than one of 1 MB. */
const BOUND = 64 * MEGABYTE;

let instance: EmptyInstance;
let files: Server;

beforeAll(async () => {
	instance = await startEmptyInstance({ N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem' });
	const block = randomBytes(MEGABYTE);
	files = createServer((request, response) => {
		const megabytes = Number(/resume\/(\d+)MB/.exec(request.url ?? '')?.[1]);
		response.writeHead(200, {
			'Content-Type': 'application/pdf',
			'Content-Length': megabytes * MEGABYTE,
		});
		let sent = 0;
		const more = () => {
			while (sent < megabytes) {
				sent++;
				if (!response.write(block)) return void response.once('drain', more);
			}
			response.end();
		};
		more();
	});
	await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve));
}, startMilliseconds);

afterAll(async () => {
	files?.close();
	await instance?.close();
}, 60_000);

test('a file of 1 GB takes no more memory than one of 1 MB', async () => {
	// The first download loads code, and brings the heap to the size that a stream keeps busy.
	await download(64);
	const small = await download(1);
	// Garbage that is not collected yet only adds, so the lowest counts.
	const large = Math.min(await download(1024), await download(1024), await download(1024));
	process.stdout.write(
		`\nPeak memory of n8n: ${megabytes(small)} MB for 1 MB, ${megabytes(large)} MB for 1 GB\n\n`,
	);
	expect(large - small).toBeLessThanOrEqual(BOUND);
}, 600_000);

const megabytes = (bytes: number) => Math.round(bytes / MEGABYTE);

/** Downloads a file of so many megabytes; answers the highest memory of n8n meanwhile, in bytes. */
async function download(size: number): Promise<number> {
	const { port } = files.address() as AddressInfo;
	const credentials = await instance.addCredential({ baseUrl: `http://127.0.0.1:${port}/v1` });
	let peak = 0;
	const watch = setInterval(() => {
		void memoryOf(instance.n8n.pid).then((bytes) => (peak = Math.max(peak, bytes)));
	}, 20);
	const execution = await instance.runNode({
		type: 'n8n-nodes-resume-management.resumeManagement',
		parameters: {
			resource: 'resume',
			operation: 'download',
			resumeId: { __rl: true, mode: 'id', value: `${size}MB` },
		},
		credentials,
		timeoutMilliseconds: 300_000,
	});
	clearInterval(watch);
	expect(execution.status).toBe('success');
	const { data } = outputOf(execution)[0]!.binary!;
	expect(data).toMatchObject({ mimeType: 'application/pdf', data: 'filesystem-v2' });
	const path = data!.id!.replace('filesystem-v2:', `${instance.binaryFolder}/`);
	expect((await stat(path)).size).toBe(size * MEGABYTE);
	return peak;
}

/** Resident memory of a process in bytes, as Linux counts it. */
async function memoryOf(pid: number): Promise<number> {
	const status = await readFile(`/proc/${pid}/status`, 'utf8');
	return Number(/VmRSS:\s+(\d+) kB/.exec(status)![1]) * 1024;
}
