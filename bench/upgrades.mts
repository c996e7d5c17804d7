import type { INodeParameters } from 'n8n-workflow';
import { access, compare, type Bench } from './rounds.mts';
import type { Row } from './report.mts';
import { allItems, httpRequest, oneByOne, ours } from './workflows.mts';

/** Compares upgrades. This node has one request open at a time. */
export async function upgrades(bench: Bench, items: number, latency: number): Promise<Row[]> {
	const { baseUrl, credentials } = await access(bench, latency);
	const url = `${baseUrl}/plan/upgrade`;
	const planId = 'plan-pro';
	const email = "={{ 'user' + $json.id + '@example.com' }}";
	const node = ours({ resource: 'plan', operation: 'upgrade', planId, email }, credentials);
	const parameters = Object.entries({ planId, email }).map(([name, value]) => ({ name, value }));
	const body = { method: 'POST', url, sendBody: true, bodyParameters: { parameters } };
	const http = (options: INodeParameters) => httpRequest({ ...body, options }, credentials);
	const common = {
		ours: allItems(node, items),
		floor: {
			count: items,
			parallel: 1,
			url: () => url,
			body: { planId, email: 'nathan@example.com' },
		},
		bound: { ratio: 1.5 },
	};
	const title = `Upgrade ${items} plans, ${latency} ms each, against`;
	const batch = { batchSize: 1, batchInterval: 1 };
	return [
		await compare(bench, {
			...common,
			title: `${title} batch size 1`,
			theirs: allItems(http({ batching: { batch } }), items),
			unguarded:
				'HTTP Request with batch size 1 starts an upgrade before the last one is answered; this node does not.',
		}),
		await compare(bench, {
			...common,
			title: `${title} Loop Over Items`,
			theirs: oneByOne(http({}), items),
		}),
	];
}
