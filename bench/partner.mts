import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import type { SQLInputValue } from 'node:sqlite';
import { scoreResume } from '../sandbox/score.mts';
import type { Fault, Sandbox } from '../sandbox/server.mts';
import { createStore } from '../sandbox/store.mts';

/** The sandbox in a thread of its own, so that n8n and the service do not wait for each other. */
export interface Partner {
	baseUrl: string;
	query(sql: string, ...values: SQLInputValue[]): Promise<Array<Record<string, SQLInputValue>>>;
	addFaults(faults: Fault[]): Promise<void>;
	clearFaults(): Promise<void>;
	/** Each resume with its user and its score, as the service has them now. */
	resumes(): Promise<Array<{ id: string; userId: string; score: number }>>;
	/** How many requests have come, by `METHOD /path/:id`, since this was last asked with `reset`. */
	requests(reset: boolean): Promise<Record<string, number>>;
	close(): Promise<void>;
}

interface Size {
	users: number;
	/** Milliseconds. */
	latency: number;
}

type Command =
	| { name: 'query'; sql: string; values: SQLInputValue[] }
	| { name: 'addFaults'; faults: Fault[] }
	| { name: 'clearFaults' }
	| { name: 'resumes' }
	| { name: 'requests'; reset: boolean };

export async function startPartner(size: Size): Promise<Partner> {
	const worker = new Worker(new URL(import.meta.url), { workerData: size });
	const [baseUrl] = (await once(worker, 'message')) as [string];
	// One command after the other: each answer belongs to the last one.
	let last: Promise<unknown> = Promise.resolve();
	const ask = async <Answer,>(command: Command): Promise<Answer> => {
		const answer = last.then(async () => {
			worker.postMessage(command);
			return ((await once(worker, 'message')) as [Answer])[0];
		});
		last = answer;
		return await answer;
	};
	return {
		baseUrl,
		query: async (sql, ...values) => await ask({ name: 'query', sql, values }),
		addFaults: async (faults) => await ask({ name: 'addFaults', faults }),
		clearFaults: async () => await ask({ name: 'clearFaults' }),
		resumes: async () => await ask({ name: 'resumes' }),
		requests: async (reset) => await ask({ name: 'requests', reset }),
		close: async () => void (await worker.terminate()),
	};
}

async function serve(): Promise<void> {
	const { startSandbox } = await import('../sandbox/server.mts');
	const sandbox = await startSandbox({ port: 0, record: true, ...(workerData as Size) });
	parentPort!.on('message', (command: Command) => {
		parentPort!.postMessage(carryOut(command, sandbox));
	});
	parentPort!.postMessage(sandbox.baseUrl);
}

function carryOut(command: Command, { database, faults, requests }: Sandbox): unknown {
	switch (command.name) {
		case 'query':
			return database.prepare(command.sql).all(...command.values);
		case 'addFaults':
			return command.faults.forEach((fault) => faults.add(fault));
		case 'clearFaults':
			return faults.clear();
		case 'resumes': {
			const resumes = database.prepare('SELECT id, user_id AS userId FROM resumes').all();
			const store = createStore(database);
			return resumes.map(({ id, userId }) => {
				const { score } = scoreResume(store.findResume(String(id))!.sections);
				return { id, userId, score };
			});
		}
		case 'requests': {
			const counts: Record<string, number> = {};
			for (const { method, url } of requests) {
				const path = url.replace(/^\/v1/, '').replace(/\?.*/, '');
				const operation = `${method} ${path.replace(/^\/(user|resume)\/[^/]+/, '/$1/:id')}`;
				counts[operation] = (counts[operation] ?? 0) + 1;
			}
			if (command.reset) requests.length = 0;
			return counts;
		}
	}
}

if (!isMainThread) await serve();
