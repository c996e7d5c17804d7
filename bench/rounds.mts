import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { json } from 'node:stream/consumers';
import type { Instance, Measured, Run } from './instance.mts';
import type { Guard, Row } from './report.mts';
import type { Service } from './service.mts';

/** Resources of every comparison. */
export interface Bench {
	instance: Instance;
	service: Service;
	rounds: number;
}

/** Requests of a run, for a client that does nothing else. */
interface Requests {
	count: number;
	/** Number of requests that are open at the same time. */
	parallel: number;
	url(index: number): string;
	/** Sent as JSON by POST. */
	body?: object;
	/** Folder to store the answers in as files; undefined to parse them as JSON. */
	folder?: string;
}

/** Default of Max Parallel Requests. */
export const defaultParallel = 32;

export const webhookSecret = 'secret';

/** @param latency milliseconds until the service answers */
export async function access({ instance, service }: Bench, latency: number) {
	const baseUrl = service.baseUrl(latency);
	const credentials = await instance.credential({
		name: `Service, ${latency} ms`,
		type: 'resumeManagementApi',
		data: { baseUrl, privateKey: 'key', webhookSecret },
	});
	return { baseUrl, credentials };
}

export const times = (runs: Run[]) => runs.map(({ milliseconds }) => milliseconds);

/** Contenders, and the requests of a client that does nothing else. */
interface Comparison extends Guard {
	title: string;
	ours: Measured;
	theirs: Measured;
	floor?: Requests;
}

/** Compares the times of our node and n8n's. */
export async function compare(bench: Bench, comparison: Comparison): Promise<Row> {
	const { ours, theirs, floor, ...row } = comparison;
	const [own, other] = await alternate(bench, [ours, theirs]);
	const alone = floor && (await floors(bench, floor));
	return { ...row, unit: 'ms', ours: times(own!), theirs: times(other!), floor: alone };
}

/** Runs each workflow once a round. */
export async function alternate({ instance, rounds }: Bench, all: Measured[]): Promise<Run[][]> {
	const contenders = all.map((measured) => async () => await instance.run(measured));
	return await inRounds(rounds, contenders);
}

/** Measures the milliseconds of Node.js alone, with a new connection for each request. */
export async function floors({ rounds }: Bench, requests: Requests): Promise<number[]> {
	const floor = async () => {
		const started = performance.now();
		let next = 0;
		const client = async () => {
			while (next < requests.count) await send(requests, next++);
		};
		await Promise.all(Array.from({ length: requests.parallel }, client));
		return performance.now() - started;
	};
	const [figures] = await inRounds(rounds, [floor]);
	return figures!;
}

async function send({ url, body, folder }: Requests, index: number): Promise<void> {
	const answer = await new Promise<IncomingMessage>((resolve, reject) => {
		request(url(index), { agent: false, method: body ? 'POST' : 'GET' }, resolve)
			.once('error', reject)
			.end(body && JSON.stringify(body));
	});
	if (folder === undefined) {
		await json(answer);
		return;
	}
	const file = join(folder, `floor-${index}`);
	await pipeline(answer, createWriteStream(file));
	await rm(file);
}

/** Runs all contenders in rounds, after one run to warm up. Every other round has the reverse order. */
export async function inRounds<Result>(
	rounds: number,
	contenders: Array<() => Promise<Result>>,
): Promise<Result[][]> {
	const results: Result[][] = contenders.map(() => []);
	for (const contend of contenders) await contend();
	for (let round = 0; round < rounds; round++) {
		const order = round % 2 === 0 ? [...contenders.keys()] : [...contenders.keys()].reverse();
		for (const index of order) results[index]!.push(await contenders[index]!());
	}
	return results;
}
