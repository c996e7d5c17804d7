import { randomBytes } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { stat } from 'node:fs/promises';
import { memory, resetPeak } from '../../bench/memory.mts';
import type { Execution } from '../../host/rest.mts';
import { byId, download as parameters } from '../support/parameters.mts';
import { outputOf, startInstance, startMilliseconds, tested } from './instance.mts';
import type { OwnInstance } from './instance.mts';

/** Tests that measure n8n or need other settings of n8n. */

const MEGABYTE = 1024 * 1024;
/** Megabytes of memory that a file of 512 MB may need in addition to one of 1 MB. */
const BOUND = 64;

let instance: OwnInstance;
let files: Server;
/** Paths of the requests, under any name of this machine. */
const asked: string[] = [];

const address = (host: string) => `http://${host}:${(files.address() as AddressInfo).port}`;
/** An address that n8n's SSRF protection refuses. */
const guarded = () => `${address('127.0.0.1')}/resume/1MB`;
const redirect = (response: ServerResponse, location: string) =>
	response.writeHead(302, { Location: location }).end();
/** Responses by the ID of the resume. Other IDs are files of so many megabytes. */
const responses: Record<string, (response: ServerResponse) => void> = {
	linked: (response) => {
		response.writeHead(200, { 'Content-Type': 'application/json' });
		response.end(JSON.stringify({ status: 'success', data: { url: guarded() } }));
	},
	redirected: (response) => redirect(response, guarded()),
	redirectedLater: (response) => redirect(response, `${address('localhost')}/resume/redirected`),
};

beforeAll(async () => {
	instance = await startInstance({
		N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem',
		// n8n 1 does not know these. The service stays reachable, by its name.
		N8N_SSRF_PROTECTION_ENABLED: 'true',
		N8N_SSRF_ALLOWED_HOSTNAMES: 'localhost',
	});
	// One block in eighty would start with a bracket by chance, as JSON and HTML do.
	const block = randomBytes(MEGABYTE).fill('%PDF-1.7\n', 0, 9);
	files = createServer((request, response) => {
		asked.push(request.url!);
		const [, id = ''] = /resume\/(\w+)/.exec(request.url!)!;
		if (responses[id]) return responses[id](response);
		const blocks = Array<Buffer>(parseInt(id)).fill(block);
		const length = blocks.length * MEGABYTE;
		response.writeHead(200, { 'Content-Type': 'application/pdf', 'Content-Length': length });
		void pipeline(blocks, response).catch(() => {});
	});
	await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve));
}, startMilliseconds);

afterAll(async () => {
	files?.close();
	await instance?.close();
}, 60_000);

test('a file of 512 MB needs no more memory than one of 1 MB', async () => {
	// The first download loads code, and brings the heap to the size that a stream keeps busy.
	await download(64);
	const small = await download(1);
	let large = await download(512);
	// Garbage that is not collected yet only adds, so the lower of two counts.
	if (large - small > BOUND) large = await download(512);
	expect(large - small).toBeLessThanOrEqual(BOUND);
}, 300_000);

test.each(Object.keys(responses))("n8n's SSRF protection covers a file that is %s", async (id) => {
	asked.length = 0;
	const { error } = (await runDownload(id)).data.resultData;
	// n8n 1 has no such protection, as SECURITY.md says.
	if (tested !== '2') return expect(error).toBeUndefined();
	expect(error?.message).toBe("n8n does not allow connections to the file's host");
	expect(error?.description).toContain('N8N_SSRF_ALLOWED_HOSTNAMES');
	expect(asked.some((path) => path.startsWith('/resume/1MB'))).toBe(false);
	expect(asked.filter((path) => path.endsWith(`/${id}/download`))).toHaveLength(1);
});

/** Downloads a file of so many megabytes, and returns n8n's highest memory meanwhile, in megabytes. */
async function download(size: number): Promise<number> {
	await resetPeak(instance.n8n.pid);
	const execution = await runDownload(`${size}MB`);
	const { peak } = await memory(instance.n8n.pid);
	expect(execution.data.resultData.error).toBeUndefined();
	const { data } = outputOf(execution)[0]!.binary!;
	expect(data).toMatchObject({ mimeType: 'application/pdf', data: 'filesystem-v2' });
	const path = data!.id!.replace('filesystem-v2:', `${instance.binaryFolder}/`);
	expect((await stat(path)).size).toBe(size * MEGABYTE);
	return peak;
}

async function runDownload(id: string): Promise<Execution> {
	return await instance.runNode({
		parameters: { ...parameters, resumeId: byId(id) },
		credentials: await instance.addCredential({ baseUrl: `${address('localhost')}/v1` }),
		timeoutMilliseconds: 120_000,
	});
}
