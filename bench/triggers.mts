import { deliver, type Trigger } from './deliveries.mts';
import { inRounds, webhookSecret, type Bench } from './rounds.mts';
import type { Row } from './row.mts';

/** Events, each with a secret in a header that either trigger checks. */
export async function triggers(
	{ instance, rounds }: Bench,
	count: number,
	{ title, unguarded }: { title: string; unguarded?: string },
): Promise<Row[]> {
	const headers = { 'X-Webhook-Secret': webhookSecret };
	const [[name, value]] = Object.entries(headers) as [[string, string]];
	const baseUrl = 'http://127.0.0.1/v1';
	const ownCredentials = await instance.credential({
		name: 'Service',
		type: 'resumeManagementApi',
		data: { baseUrl, privateKey: 'key', webhookSecret },
	});
	const headerAuth = { name: 'Header', type: 'httpHeaderAuth', data: { name, value } };
	const credentials = await instance.credential(headerAuth);
	const own: Trigger = {
		action: () => ({
			type: 'n8n-nodes-resume-management.resumeManagementTrigger',
			typeVersion: 1.1,
			parameters: { verification: 'header', headerName: name },
			credentials: ownCredentials,
		}),
		path: (webhookId) => `/webhook/${webhookId}/webhook`,
	};
	const webhook: Trigger = {
		action: (path) => ({
			type: 'n8n-nodes-base.webhook',
			typeVersion: 2.1,
			parameters: {
				httpMethod: 'POST',
				path,
				authentication: 'headerAuth',
				responseMode: 'onReceived',
			},
			credentials,
		}),
		path: (webhookId) => `/webhook/${webhookId}`,
	};
	const [ours, theirs] = await inRounds(rounds, [
		async () => await deliver(instance, own, headers, count),
		async () => await deliver(instance, webhook, headers, count),
	]);
	const row = (verb: string, key: 'answered' | 'executed'): Row => ({
		title: `${verb} ${count} events${title}`,
		unit: 'per second',
		ours: ours!.map((rates) => rates[key]),
		theirs: theirs!.map((rates) => rates[key]),
		bound: { ratio: 0.95 },
		unguarded,
	});
	return [row('Answer', 'answered'), row('Answer and execute', 'executed')];
}
