import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Eta } from 'eta';
import type { FastifyInstance, FastifyReply } from 'fastify';

import { scoreResume } from '../score.mts';
import type { Store } from '../store.mts';
import { STYLES, type WebhookRegistration } from '../webhooks/signature.mts';
import { refusal, type Webhooks } from '../webhooks/webhooks.mts';

export const CONSOLE_PATH = '/console';

/** Fits a section of the API's largest size, with every byte percent-encoded. */
const FORM_LIMIT_IN_BYTES = 4 * 1024 * 1024;

/** Number of users, and of deliveries, on a page. */
const MAX_ROWS = 100;

const stylesheet = readFileSync(join(import.meta.dirname, 'style.css'));

/** The templates escape every value. */
const eta = new Eta({ views: import.meta.dirname, cache: true });

const helpers = {
	root: CONSOLE_PATH,
	/** Returns e.g. `2026-11-01 14:03`. */
	time: (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' '),
	/** Returns e.g. `1 user` or `2 users`. */
	count: (number: number, one: string, many = `${one}s`) =>
		`${number} ${number === 1 ? one : many}`,
};

interface Form {
	Params: { id: string };
	Querystring: { saved?: string };
	Body: Record<string, string>;
}

/** Adds the web pages: plain forms without scripts. */
export function consoleRoutes(scope: FastifyInstance, store: Store, webhooks: Webhooks): void {
	scope.removeAllContentTypeParsers();
	const options = { parseAs: 'string', bodyLimit: FORM_LIMIT_IN_BYTES } as const;
	scope.addContentTypeParser('application/x-www-form-urlencoded', options, (_, body, done) =>
		done(null, Object.fromEntries(new URLSearchParams(String(body)))),
	);
	scope.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
		const { statusCode = 500, message } = error;
		if (statusCode >= 500) console.error(error);
		return page(reply.code(statusCode), 'problem', { title: 'That did not work', message });
	});
	scope.get('/style.css', (_request, reply) => reply.type('text/css').send(stylesheet));

	scope.get('/users', (_request, reply) => {
		const users = store.listUsers();
		const shown = users.slice(0, MAX_ROWS);
		return page(reply, 'users', { title: 'Users', users: shown, total: users.length });
	});
	scope.get<Form>('/users/:id', ({ params: { id } }, reply) => {
		const user = existing(store.findUser(id), id);
		const title = `${user.firstName} ${user.lastName}`;
		return page(reply, 'user', { title, user, resumes: store.listResumes(id) });
	});
	scope.get<Form>('/resumes/:id', ({ params: { id }, query: { saved } }, reply) => {
		const resume = existing(store.findResume(id), id);
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
		const deliveries = webhooks.deliveries().slice(0, MAX_ROWS);
		const lists = { styles: STYLES, webhooks: webhooks.list(), deliveries };
		return page(reply, 'webhooks', { title: 'Webhooks', ...lists });
	});
	const back = (reply: FastifyReply) => reply.redirect(`${CONSOLE_PATH}/webhooks`, 303);
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
}

function page(reply: FastifyReply, view: string, data: object): FastifyReply {
	return reply.type('text/html; charset=utf-8').send(eta.render(view, { ...helpers, ...data }));
}

/** @throws if there is no such user or resume */
function existing<Found>(found: Found | undefined, id: string): Found {
	if (found === undefined) throw refusal(`There is no ${id}.`, 404);
	return found;
}
