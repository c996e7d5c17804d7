import { floorMilliseconds, type Requests } from './floor.mts';
import type { Instance, Measured, Run } from './instance.mts';
import type { Service } from './service.mts';

/** What every comparison needs. */
export interface Bench {
	instance: Instance;
	service: Service;
	rounds: number;
}

/** Requests that our node has open at the same time where the user sets no other number. */
export const defaultParallel = 32;

export const webhookSecret = 'secret';

/** @param latency milliseconds of the service for an answer */
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

/** Runs of each workflow, side by side in each round. */
export async function alternate({ instance, rounds }: Bench, all: Measured[]): Promise<Run[][]> {
	const contenders = all.map((measured) => async () => await instance.run(measured));
	return await inRounds(rounds, contenders);
}

export async function floors({ rounds }: Bench, requests: Requests): Promise<number[]> {
	const [figures] = await inRounds(rounds, [async () => await floorMilliseconds(requests)]);
	return figures!;
}

/** Results of each contender. All go once to warm up; every other round has the order reversed. */
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
