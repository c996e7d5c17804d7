import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { Eta } from 'eta';
import type { FastifyInstance, FastifyReply } from 'fastify';

import { COMMON_FAULTS, describeFault, type Faults } from '../faults.mts';
import type { Mail } from '../mails.mts';
import { scoreResume } from '../score.mts';
import type { Store } from '../store.mts';
import { STYLES, type WebhookRegistration } from '../webhooks/signature.mts';
import { refuse, type Webhooks } from '../webhooks/webhooks.mts';

export const CONSOLE_PATH = '/console';

/** Names in the navigation, and in the addresses. */
export const PAGES = ['users', 'upgrades', 'emails', 'webhooks', 'faults'];

const stylesheet = [
	createRequire(import.meta.filename).resolve('@picocss/pico/css/pico.fluid.classless.min.css'),
	join(import.meta.dirname, 'style.css'),
]
	.map((file) => readFileSync(file, 'utf8'))
	.join('\n');

/** The templates escape every value. */
const eta = new Eta({ views: import.meta.dirname, cache: true });

const helpers = {
	root: CONSOLE_PATH,
	pages: PAGES.map((name) => ({ name, label: name[0]!.toUpperCase() + name.slice(1) })),
	/** Returns e.g. `2026-11-01 14:03:55`. */
	time: (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' '),
	/** Returns e.g. `1 user` or `2 users`. */
	count: (number: number, one: string, many = `${one}s`) =>
		`${number} ${number === 1 ? one : many}`,
};

interface Form {
	Params: { id: string };
	Querystring: { saved?: string; search?: string };
	Body: Record<string, string>;
}

/** Adds the web pages: plain forms without scripts. */
export function consoleRoutes(
	scope: FastifyInstance,
	store: Store,
	webhooks: Webhooks,
	faults: Faults,
	mails: Mail[],
): void {
	scope.removeAllContentTypeParsers();
	scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) =>
		done(null, Object.fromEntries(new URLSearchParams(String(body)))),
	);
	scope.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
		const { statusCode = 500, message } = error;
		if (statusCode >= 500) console.error(error);
		return problemPage(reply.code(statusCode), message);
	});
	scope.get('/style.css', (_request, reply) => reply.type('text/css').send(stylesheet));

	scope.get<Form>('/users', ({ query: { search = '' } }, reply) => {
		const wanted = search.trim().toLowerCase();
		const users = store.listUsers().filter(({ id, email, firstName, lastName, subscription }) => {
			const texts = [`${firstName} ${lastName}`, email, id, subscription?.plan_id ?? 'no plan'];
			return texts.some((text) => text.toLowerCase().includes(wanted));
		});
		const lists = { users: users.slice(0, 100), total: users.length };
		return page(reply, 'users', { title: 'Users', search, ...lists });
	});
	scope.get<Form>('/users/:id', ({ params: { id } }, reply) => {
		const user = store.findUser(id) ?? refuse(`There is no ${id}.`);
		const title = `${user.firstName} ${user.lastName}`;
		return page(reply, 'user', { title, user, resumes: store.listResumes(id) });
	});
	scope.get<Form>('/resumes/:id', ({ params: { id }, query: { saved } }, reply) => {
		const resume = store.findResume(id) ?? refuse(`There is no ${id}.`);
		const { title, sections } = resume;
		const queued = webhooks.list().length;
		return page(reply, 'resume', { title, resume, ...scoreResume(sections), saved, queued });
	});
	scope.post<Form>('/sections/:id', ({ params: { id }, body: { title, content } }, reply) => {
		// Forms send \r\n, the API has \n.
		const fields = { title, content: content?.replaceAll('\r\n', '\n') };
		const resumeId = webhooks.saveSection(Number(id.replace('section-', '')), fields);
		return reply.redirect(`${CONSOLE_PATH}/resumes/${resumeId}?saved=${id}#${id}`, 303);
	});

	scope.get('/webhooks', (_request, reply) => {
		const registered = webhooks.list();
		const nameOf = (url: string) => registered.find((one) => one.url === url)?.name ?? url;
		const lists = { styles: STYLES, webhooks: registered, deliveries: webhooks.deliveries() };
		return page(reply, 'webhooks', { title: 'Webhooks', nameOf, ...lists });
	});
	const back = (reply: FastifyReply, to = 'webhooks') =>
		reply.redirect(`${CONSOLE_PATH}/${to}`, 303);
	scope.post<Form>('/webhooks', ({ body }, reply) => {
		webhooks.register(body as unknown as WebhookRegistration);
		return back(reply);
	});
	scope.post<Form>('/webhooks/:id/remove', ({ params }, reply) => {
		webhooks.remove(Number(params.id));
		return back(reply);
	});
	scope.post<Form>('/deliveries/:id/redeliver', ({ params }, reply) => {
		webhooks.redeliver(Number(params.id));
		return back(reply);
	});

	scope.get<Form>('/upgrades', ({ query: { search = '' } }, reply) => {
		const requests = store.listUpgradeRequests(search.trim());
		const data = { title: 'Upgrades', search, requests, billed: store.countUpgrades() };
		return page(reply, 'upgrades', data);
	});

	scope.get('/emails', (_request, reply) => page(reply, 'emails', { title: 'Emails', mails }));

	scope.get('/faults', (_request, reply) => {
		const lists = { faults: faults.list(), commonFaults: COMMON_FAULTS };
		return page(reply, 'faults', { title: 'Faults', describeFault, ...lists });
	});
	scope.post<Form>('/faults', ({ body: { fault, path, email, times } }, reply) => {
		const chosen = COMMON_FAULTS[Number(fault)] ?? refuse('There is no such fault.', 400);
		if (!/^[1-9]\d*$|^$/.test(times ?? '')) refuse('Enter a number of requests.', 400);
		const requests = { path: path || undefined, email: email || undefined };
		faults.add({ ...chosen, ...requests, times: Number(times) || undefined });
		return back(reply, 'faults');
	});
	scope.post<Form>('/faults/:id/remove', ({ params }, reply) => {
		faults.remove(Number(params.id));
		return back(reply, 'faults');
	});
}

/** Says in a browser what did not work. */
export function problemPage(reply: FastifyReply, message: string): FastifyReply {
	return page(reply, 'problem', { title: 'That did not work', message });
}

/** Neither scripts nor images from elsewhere, also in the emails that a page shows. */
const POLICY = "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src data:";

function page(reply: FastifyReply, view: string, data: object): FastifyReply {
	reply.type('text/html; charset=utf-8').header('content-security-policy', POLICY);
	return reply.send(eta.render(view, { ...helpers, ...data }));
}
