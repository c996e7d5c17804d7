import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { json } from 'node:stream/consumers';

/** What a run asks of the service, for a client that does nothing else. */
export interface Requests {
	count: number;
	/** How many are open at the same time. */
	parallel: number;
	url(index: number): string;
	/** Sent as JSON by POST. */
	body?: object;
	/** Where answers are stored as files; they are parsed as JSON without it. */
	folder?: string;
}

/** Milliseconds that Node.js alone takes for requests, each on a connection of its own. */
export async function floorMilliseconds(requests: Requests): Promise<number> {
	const started = performance.now();
	let next = 0;
	const client = async () => {
		while (next < requests.count) await send(requests, next++);
	};
	await Promise.all(Array.from({ length: requests.parallel }, client));
	return performance.now() - started;
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
