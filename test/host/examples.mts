import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import axios from 'axios';
import type { Examples, SharedInstance } from './instance.mts';
import { webhookSecret } from './sharedN8n.mts';

/** n8n closes a connection that is idle for five seconds, just when the next request may begin. */
const httpAgent = new Agent({ keepAlive: false });

export const http = axios.create({ proxy: false, validateStatus: null, httpAgent });

/** Login of the examples' forms. */
export const formAuth = { username: 'sandbox', password: webhookSecret };

/** Fills in the forms of the examples, as a browser does. */
export function fillIn(instance: Examples & SharedInstance) {
	const { api, exampleId, url: n8n } = instance;

	/** Waits until the execution of a form's page waits for a person, and returns that page. */
	async function waitingPage(url: string) {
		const id = /form-waiting\/(\d+)/.exec(url)![1]!;
		const status = new URL(url);
		// The page of a browser asks for it, too.
		status.pathname += '/n8n-execution-status';
		for (;;) {
			const { data: now } = await http.get<string>(status.href);
			if (['error', 'crashed', 'success'].includes(now)) throw new Error(`The form ended: ${now}`);
			// Between two pages, n8n 1 responds with JSON.
			const { data } =
				now === 'form-waiting' ? await http.get<unknown>(url, { auth: formAuth }) : {};
			if (String(data).includes('<h1>')) return { id, page: String(data) };
			await sleep(100);
		}
	}

	/** Submits the first page of a form, and returns the URL and the text of the next. */
	async function submitForm(file: string, ...values: Array<Blob | string>) {
		const { nodes } = await api.readWorkflow(exampleId(file));
		const { webhookId } = nodes.find(({ type }) => type === 'n8n-nodes-base.formTrigger')!;
		const first = `${n8n}/form/${webhookId}`;
		const form = new FormData();
		for (const [index, value] of values.entries()) form.set(`field-${index}`, value);
		expect((await http.post(first, form)).status).toBe(401);
		const url = String((await http.post(first, form, { auth: formAuth })).data.formWaitingUrl);
		return { url, ...(await waitingPage(url)) };
	}

	/** Uploads a file, and returns the page that lists the rows, if there is one, and a function that presses its button. */
	async function choose(file: Buffer | string) {
		const { url, id, page } = await submitForm('upgrades-from-file', new Blob([file]));
		/** Follows the form to its last page, and returns that page and the execution. */
		async function press() {
			let last = page;
			const form = new FormData();
			for (const [, field, value] of page.matchAll(
				/<input type="hidden" id="(\S+)" name="\S+" value="([^"]*)"/g,
			))
				form.set(field!, value!);
			if (isForm(page)) await http.post(url, form, { auth: formAuth });
			do ({ page: last } = await waitingPage(url));
			while (isForm(last));
			await http.post(url, undefined, { auth: formAuth });
			return { page: textOf(last), execution: await api.waitForExecution(id) };
		}
		return { id, asked: isForm(page) ? textOf(page) : '', press };
	}

	/** Uploads a file, presses the button if there is one, and returns the pages and the execution. */
	async function upload(file: Buffer | string) {
		const { asked, press } = await choose(file);
		return { asked, ...(await press()) };
	}
	return { waitingPage, submitForm, choose, upload };
}

const isForm = (page: string) => page.includes("id='n8n-form'");

/** Returns what a person reads on a page of a form. */
function textOf(page: string): string {
	const [, body = ''] = /<body>([^]*?)(?:id='submit-btn'|<script)/.exec(page) ?? [];
	const text = body.replace(/<input[^>]*>|<svg[^]*?<\/svg>/g, '').replace(/<[^>]*>/g, ' ');
	const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' };
	const plain = text.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (entity, decimal, hex, name) =>
		decimal || hex
			? String.fromCodePoint(decimal ? Number(decimal) : parseInt(hex as string, 16))
			: (named[name as string] ?? entity),
	);
	return plain.replace(/\s+/g, ' ').trim();
}
