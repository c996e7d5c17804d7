import { setTimeout as sleep } from 'node:timers/promises';
import axios from 'axios';
import type { INode } from 'n8n-workflow';
import { addExamples, startInstance, startMilliseconds } from './instance.mts';
import type { Examples, OwnInstance } from './instance.mts';
import { webhookSecret } from './sharedN8n.mts';

/** What the tests of the payment and of settling share: an n8n of their own, payments and forms. */

export let instance: Examples & OwnInstance;

export const payments = 'upgrade-after-payment';

const formAuth = { username: 'sandbox', password: webhookSecret };

const http = axios.create({ proxy: false, validateStatus: null });

/** Starts an n8n for the tests of a file, with the example that receives payments. The sandbox's faults are those of one test. */
export function useUpgrades(): void {
	jest.setTimeout(300_000);
	beforeAll(async () => {
		// n8n 1 otherwise gives expressions no items of a Code node.
		const own = await startInstance({ N8N_RUNNERS_ENABLED: 'true' }, 100);
		instance = { ...own, ...(await addExamples(own)) };
		await activate(payments);
	}, startMilliseconds);
	afterEach(() => instance.sandbox.faults.clear());
	afterAll(async () => await instance?.close(), 60_000);
}

export async function activate(file: string): Promise<void> {
	await instance.api.activateWorkflow(instance.exampleId(file));
}

/** Changes the nodes of an example, and publishes it again. */
export async function change(file: string, edit: (node: INode) => INode): Promise<void> {
	const { api, exampleId } = instance;
	const { nodes } = await api.readWorkflow(exampleId(file));
	await api.updateWorkflow(exampleId(file), { nodes: nodes.map(edit) });
	await activate(file);
}

/** Delivers a payment as a provider does. */
export async function deliver(body: object | string, secret = webhookSecret) {
	const headers = { 'X-Webhook-Secret': secret, 'Content-Type': 'application/json' };
	const { status, data } = await http.post(`${instance.url}/webhook/payment-received`, body, {
		headers,
	});
	return { status, data: data as Record<'outcome' | 'reason', string> & { repeated?: boolean } };
}

/** Returns the ID of an example's newest execution. */
export const newestExecution = async (file: string) =>
	Number((await instance.api.listExecutions(instance.exampleId(file)))[0]?.id ?? 0);

/** Waits for `count` executions of an example after the execution `newest`, and returns their errors, or `success`. */
export async function endsAfter(file: string, newest: number, count: number): Promise<string[]> {
	const { api, exampleId } = instance;
	const started = async () =>
		(await api.listExecutions(exampleId(file))).filter(({ id }) => Number(id) > newest).reverse();
	while ((await started()).length < count) await sleep(150);
	const executions = await Promise.all(
		(await started()).map(async ({ id }) => await api.waitForExecution(id)),
	);
	return executions.map(({ status, data }) => data.resultData.error?.message ?? status);
}

/** Submits the first page of a form, and returns the URL and the text of the next. */
export async function submitForm(file: string, value: string) {
	const { nodes } = await instance.api.readWorkflow(instance.exampleId(file));
	const { webhookId } = nodes.find(({ type }) => type === 'n8n-nodes-base.formTrigger')!;
	const first = `${instance.url}/form/${webhookId}`;
	const form = new FormData();
	form.set('field-0', value);
	expect((await http.post(first, form)).status).toBe(401);
	const url = String((await http.post(first, form, { auth: formAuth })).data.formWaitingUrl);
	return { url, ...(await waitingPage(url)) };
}

export async function waitingPage(url: string) {
	const id = /form-waiting\/(\d+)/.exec(url)![1]!;
	for (;;) {
		const { status, data } = await instance.api.readExecution(id);
		if (status === 'waiting') break;
		if (status === 'error') throw new Error(`The form ended: ${data.resultData.error?.message}`);
		await sleep(100);
	}
	return { id, page: (await http.get<string>(url, { auth: formAuth })).data };
}

/** Submits a page of a form that waits. */
export async function submitPage(url: string, form?: FormData): Promise<void> {
	await http.post(url, form, { auth: formAuth });
}
