import type { INodeParameters } from 'n8n-workflow';
import type { Run } from './instance.mts';
import { access, alternate, floors, times, type Bench } from './rounds.mts';
import type { Row } from './report.mts';
import { allItems, httpRequest, oneByOne, ours } from './workflows.mts';

/** Upgrades, of which ours has one open at a time. */
export async function upgrades(bench: Bench, items: number, latency: number): Promise<Row[]> {
	const { baseUrl, credentials } = await access(bench, latency);
	const body = { planId: 'plan-pro', email: 'nathan@example.com' };
	const email = "={{ 'user' + $json.id + '@example.com' }}";
	const node = ours(
		{ resource: 'plan', operation: 'upgrade', planId: body.planId, email },
		credentials,
	);
	const http = (options: INodeParameters) =>
		httpRequest(
			{
				method: 'POST',
				url: `${baseUrl}/plan/upgrade`,
				sendBody: true,
				bodyParameters: {
					parameters: [
						{ name: 'planId', value: body.planId },
						{ name: 'email', value: email },
					],
				},
				options,
			},
			credentials,
		);
	const batch = { batchSize: 1, batchInterval: 1 };
	const [own, batched, looped] = await alternate(bench, [
		allItems(node, items),
		allItems(http({ batching: { batch } }), items),
		oneByOne(http({}), items),
	]);
	const url = () => `${baseUrl}/plan/upgrade`;
	const floor = await floors(bench, { count: items, parallel: 1, url, body });
	const row = (against: string, theirs: Run[]): Row => ({
		title: `Upgrade ${items} plans, ${latency} ms each, against ${against}`,
		unit: 'ms',
		ours: times(own!),
		theirs: times(theirs),
		floor,
		bound: { ratio: 1.5 },
	});
	const unguarded =
		'HTTP Request with batch size 1 starts an upgrade while the ones before have no answer yet; ours waits for each answer, which Loop Over Items does too.';
	return [{ ...row('batch size 1', batched!), unguarded }, row('Loop Over Items', looped!)];
}
