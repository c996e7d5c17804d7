import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import axios from 'axios';
import type { INodeParameters } from 'n8n-workflow';
import type { ExecutionSummary, WorkflowDefinition } from '../host/rest.mts';
import { chain } from '../host/workflow.mts';
import { allItems, httpRequest, oneByOne, ours, type Action } from './contenders.mts';
import type { Instance, Run } from './instance.mts';
import type { Row } from './report.mts';
import type { Service } from './service.mts';

/** Resources of every comparison. */
export interface Bench {
	instance: Instance;
	service: Service;
	rounds: number;
}

const secretHeader = { name: 'X-Webhook-Secret', value: 'secret' };

/** @param latency milliseconds until the service responds */
async function access({ instance, service }: Bench, latency: number) {
	const baseUrl = service.baseUrl(latency);
	const credentials = await instance.credential({
		name: `Service, ${latency} ms`,
		type: 'resumeManagementApi',
		data: { baseUrl, privateKey: 'key', webhookSecret: secretHeader.value },
	});
	return { baseUrl, credentials };
}

/** Runs all contenders in rounds, after one run to warm up. Every other round has the reverse order. */
async function inRounds<Result>(
	rounds: number,
	...contenders: Array<() => Promise<Result>>
): Promise<Result[][]> {
	const results: Result[][] = contenders.map(() => []);
	for (const contend of contenders) await contend();
	for (let round = 0; round < rounds; round++) {
		const order = round % 2 === 0 ? [...contenders.keys()] : [...contenders.keys()].reverse();
		for (const index of order) results[index]!.push(await contenders[index]!());
	}
	return results;
}

/** Compares the times of two workflows. */
async function compare({ instance, rounds }: Bench, ...workflows: WorkflowDefinition[]) {
	const contenders = workflows.map((one) => async () => (await instance.run(one)).milliseconds);
	const [ours, theirs] = await inRounds(rounds, ...contenders);
	return { ours: ours!, theirs };
}

async function readers(bench: Bench, latency: number) {
	const { baseUrl, credentials } = await access(bench, latency);
	const userId = { __rl: true, mode: 'id', value: '={{ $json.id }}' };
	const own = (options: INodeParameters = {}) =>
		ours({ resource: 'user', operation: 'get', userId, options }, credentials);
	const http = httpRequest({ url: `=${baseUrl}/user/{{ $json.id }}`, options: {} }, credentials);
	return { own, http };
}

/** Compares reads, which spend most of their time on expressions and credentials. */
export async function reads(bench: Bench, latency: number, ratio: number): Promise<Row> {
	const { own, http } = await readers(bench, latency);
	return {
		title: `Read 1,000 users, ${latency} ms each`,
		unit: 'ms',
		...(await compare(bench, allItems(own(), 1_000), allItems(http, 1_000))),
		bound: { ratio },
	};
}

/** Measures whether an item of a long run takes longer than an item of a short one. */
export async function growthOfReads(bench: Bench): Promise<Row> {
	const { own } = await readers(bench, 5);
	const perItem = async (items: number) =>
		(await bench.instance.run(allItems(own(), items))).milliseconds / items;
	const growth = async () => (await perItem(3_000)) / (await perItem(100));
	const [ours] = await inRounds(bench.rounds, growth);
	return {
		title: 'Time for each user of 3,000, against each of 100, 5 ms each',
		unit: 'times',
		ours: ours!,
		bound: { atMost: 1.1 },
	};
}

/** Compares upgrades. This node has one request open at a time. */
export async function upgrades(bench: Bench): Promise<Row[]> {
	const latency = 5;
	const items = 100;
	const { instance, rounds } = bench;
	const { baseUrl, credentials } = await access(bench, latency);
	const planId = 'plan-pro';
	const email = "={{ 'user' + $json.id + '@example.com' }}";
	const node = ours({ resource: 'plan', operation: 'upgrade', planId, email }, credentials);
	const parameters = Object.entries({ planId, email }).map(([name, value]) => ({ name, value }));
	const request = {
		method: 'POST',
		url: `${baseUrl}/plan/upgrade`,
		sendBody: true,
		bodyParameters: { parameters },
	};
	const http = (options: INodeParameters) => httpRequest({ ...request, options }, credentials);
	const batch = { batchSize: 1, batchInterval: 1 };
	const own = allItems(node, items);
	const row = (against: string) => ({
		title: `Upgrade ${items} plans, ${latency} ms each, against ${against}`,
		unit: 'ms' as const,
	});
	/** Sends the requests one after the other, without n8n. */
	const alone = async () => {
		const started = performance.now();
		const body = { email: 'user0@example.com', planId };
		for (let sent = 0; sent < items; sent++) await axios.post(request.url, body);
		return performance.now() - started;
	};
	const [times] = await inRounds(
		rounds,
		async () => (await instance.run(own)).milliseconds / (await alone()),
	);
	return [
		{
			...row('batch size 1'),
			...(await compare(bench, own, allItems(http({ batching: { batch } }), items))),
			reason:
				'HTTP Request with batch size 1 starts an upgrade before the last one has its response; this node does not.',
		},
		{ ...row('Loop Over Items'), ...(await compare(bench, own, oneByOne(http({}), items))) },
		{
			...row('the requests alone'),
			unit: 'times',
			ours: times!,
			// One at a time can take no less: a bound on the ratio to n8n's nodes would depend on the machine.
			bound: { atMost: 1.4 },
		},
	];
}

/** Compares a download to n8n's store in the filesystem. */
export async function download(bench: Bench, megabytes: number): Promise<Row[]> {
	const { instance, rounds } = bench;
	// A fresh process, because memory of earlier runs would hide the growth.
	await instance.restart();
	const { baseUrl, credentials } = await access(bench, 0);
	const resumeId = { __rl: true, mode: 'id', value: '={{ $json.id }}' };
	const http = {
		url: `=${baseUrl}/resume/{{ $json.id }}/download`,
		options: { response: { response: { responseFormat: 'file' } } },
	};
	const actions = [
		ours({ resource: 'resume', operation: 'download', resumeId }, credentials),
		httpRequest(http, credentials),
	];
	const contenders = actions.map((action) => {
		const workflow = allItems(action, 1, `${megabytes}MB-`);
		return async () => await instance.run(workflow);
	});
	const [own, theirs] = await inRounds(rounds, ...contenders);
	const row = (title: string, figure: keyof Run) => ({
		title,
		ours: own!.map((run) => run[figure]),
		theirs: theirs!.map((run) => run[figure]),
	});
	const title = `Download ${megabytes} MB`;
	return [
		{
			...row(title, 'milliseconds'),
			unit: 'ms',
			reason:
				'both nodes stream to the same disk, whose speed differs more from round to round than one node from the other.',
		},
		{
			...row(`${title}: growth of n8n's memory`, 'growthMegabytes'),
			unit: 'MB',
			bound: { atMost: 64 },
			reason: 'both nodes stream; a few megabytes are chance.',
		},
	];
}

/** Compares peak memory. */
export async function memoryOfReads(bench: Bench): Promise<Row> {
	const { instance } = bench;
	const { own, http } = await readers(bench, 5);
	// A fresh process for each run, because memory of earlier runs would hide the growth.
	const peak = async (action: Action) => {
		await instance.restart();
		return (await instance.run(allItems(action, 5_000))).peakMegabytes;
	};
	return {
		title: 'Peak memory of n8n, reading 5,000 users',
		unit: 'MB',
		ours: [await peak(own()), await peak(own())],
		theirs: [await peak(http), await peak(http)],
		bound: { ratio: 1 },
	};
}

/** Number of events that a trigger gets: as many executions as n8n lists at once. */
const events = 100;

/** Compares triggers that check a secret in a header. */
export async function triggers(
	bench: Bench,
	title: string,
	more: Pick<Row, 'bound' | 'reason'>,
): Promise<Row> {
	const { instance, rounds } = bench;
	const own = {
		type: 'n8n-nodes-resume-management.resumeManagementTrigger',
		typeVersion: 1.1,
		parameters: { verification: 'header', headerName: secretHeader.name },
		credentials: (await access(bench, 0)).credentials,
	};
	const headerAuth = { name: 'Header', type: 'httpHeaderAuth', data: secretHeader };
	const webhook = {
		type: 'n8n-nodes-base.webhook',
		typeVersion: 2.1,
		parameters: { httpMethod: 'POST', authentication: 'headerAuth', responseMode: 'onReceived' },
		credentials: await instance.credential(headerAuth),
	};
	const [ours, theirs] = await inRounds(
		rounds,
		async () => await deliver(instance, own, '/webhook'),
		async () => await deliver(instance, webhook, ''),
	);
	const row = `Respond to and execute ${events} events${title}`;
	return { title: row, unit: 'per second', ours: ours!, theirs, ...more };
}

/**
 * Activates a new workflow with a trigger only, and sends 20 events at a time to it.
 *
 * @param end follows the path in the trigger's address
 * @returns events per second, until their executions had ended
 */
async function deliver({ api, n8n }: Instance, trigger: Action, end: string) {
	const path = randomUUID();
	const parameters = { ...trigger.parameters, path };
	const node = { ...trigger, parameters, name: 'Trigger', webhookId: path };
	const { id } = await api.createWorkflow(chain([node]));
	await api.activateWorkflow(id);
	const request = {
		method: 'POST',
		headers: { [secretHeader.name]: secretHeader.value, 'Content-Type': 'application/json' },
		body: JSON.stringify({ event: 'Resume Section Saved', data: { resumeId: 'resume-001' } }),
	};

	const started = Date.now();
	let sent = 0;
	const sender = async () => {
		while (sent++ < events) {
			const response = await fetch(`${n8n.url}/webhook/${path}${end}`, request);
			if (!response.ok) throw new Error(`An event got HTTP ${response.status}.`);
			await response.text();
		}
	};
	await Promise.all(Array.from({ length: 20 }, sender));

	const deadline = started + 120_000;
	let ended: ExecutionSummary[] = [];
	while (ended.length < events) {
		if (Date.now() > deadline)
			throw new Error(`${ended.length} of ${events} events had a success.`);
		await sleep(500);
		ended = (await api.listExecutions(id)).filter(({ status }) => status === 'success');
	}
	const last = Math.max(...ended.map(({ stoppedAt }) => Date.parse(stoppedAt!)));
	return (events * 1_000) / (last - started);
}
