import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { scoreResume } from '../sandbox/score.mts';
import type { SandboxOptions } from '../sandbox/server.mts';
import { Store } from '../sandbox/store.mts';

/** The sandbox in a thread of its own, so that n8n and the service do not wait for each other. */
export interface Partner {
	baseUrl: string;
	/** Takes and clears faults over HTTP. */
	faultsUrl: string;
	/** The sandbox's own data file. */
	database: DatabaseSync;
	/** Each resume with its user and its score, as the service has them now. */
	resumes(): Array<{ id: string; userId: string; score: number }>;
	/** How many requests have come, by `METHOD /path/:id`, since this was last asked with `reset`. */
	requests(reset: boolean): Promise<Record<string, number>>;
	close(): Promise<void>;
}

/** @param size users, and milliseconds of `latency` */
export async function startPartner(size: { users: number; latency: number }): Promise<Partner> {
	const folder = await mkdtemp(join(tmpdir(), 'resume-management-partner-'));
	const file = join(folder, 'sandbox.sqlite');
	const options: SandboxOptions = { port: 0, record: true, file, ...size };
	const worker = new Worker(new URL(import.meta.url), { workerData: options });
	const [url] = (await once(worker, 'message')) as [string];
	const database = new DatabaseSync(file, { timeout: 5_000 });
	const store = new Store(database);
	return {
		baseUrl: `${url}/v1`,
		faultsUrl: `${url}/_sandbox/faults`,
		database,
		resumes: () =>
			database
				.prepare('SELECT id, user_id AS userId FROM resumes')
				.all()
				.map((row) => {
					const { score } = scoreResume(store.findResume(String(row.id))!.sections);
					return { id: String(row.id), userId: String(row.userId), score };
				}),
		requests: async (reset) => {
			worker.postMessage(reset);
			return ((await once(worker, 'message')) as [Record<string, number>])[0];
		},
		close: async () => {
			database.close();
			await worker.terminate();
			await rm(folder, { recursive: true });
		},
	};
}

async function serve(): Promise<void> {
	const { startSandbox } = await import('../sandbox/server.mts');
	const { url, requests } = await startSandbox(workerData as SandboxOptions);
	parentPort!.on('message', (reset: boolean) => {
		const operations = requests.map(({ method, url }) => {
			const path = url.replace(/^\/v1/, '').replace(/\?.*/, '');
			return `${method} ${path.replace(/^\/(user|resume)\/[^/]+/, '/$1/:id')}`;
		});
		const counts = Object.entries(Object.groupBy(operations, (operation) => operation));
		parentPort!.postMessage(Object.fromEntries(counts.map(([name, all]) => [name, all!.length])));
		if (reset) requests.length = 0;
	});
	parentPort!.postMessage(url);
}

if (!isMainThread) await serve();
