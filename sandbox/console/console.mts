import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import formbody from '@fastify/formbody';
import { Eta } from 'eta';
import type { FastifyInstance, FastifyReply } from 'fastify';

import { scoreResume } from '../score.mts';
import type { Store } from '../store.mts';
import { STYLES, type WebhookRegistration } from '../webhooks/signature.mts';
import { refusal, type Webhooks } from '../webhooks/webhooks.mts';

/** Where the pages are on the sandbox's port. */
export const CONSOLE_PATH = '/console';

/** Room for a section as large as the API takes, with every byte percent-encoded. */
const FORM_LIMIT_IN_BYTES = 4 * 1024 * 1024;

/** How many users, and how many deliveries, a page shows. */
const MOST_ROWS = 100;

const stylesheet = readFileSync(
	createRequire(import.meta.url).resolve('@picocss/pico/css/pico.classless.blue.min.css'),
);

const eta = new Eta({ views: import.meta.dirname, cache: true });

/** What every template can use; they escape every value that they print. */
const helpers = {
	root: CONSOLE_PATH,
	/** @param time in milliseconds; e.g. `2026-11-01 14:03:22 UTC` */
	time: (time: number) => new Date(time).toISOString().replace('T', ' ').replace(/\..*/, ' UTC'),
	/** @param time in seconds; e.g. `2026-11-01` */
	date: (time: number) => new Date(time * 1000).toISOString().slice(0, 10),
	/** E.g. `1 delivery` or `2 deliveries`. */
	count: (number: number, one: string, many: string) => `${number} ${number === 1 ? one : many}`,
};

type Form = Record<string, string | undefined>;

interface Asked {
	Params: { id: string };
	Querystring: Form;
	Body: Form;
}

const text = { type: 'string' };
const sectionForm = {
	type: 'object',
	required: ['title', 'content'],
	properties: { title: { ...text, pattern: '\\S' }, content: text },
};
const webhookForm = {
	type: 'object',
	required: ['url', 'style'],
	properties: { style: { enum: STYLES } },
	additionalProperties: text,
};

/** The web pages of the sandbox: plain forms, no script. */
export async function consoleRoutes(scope: FastifyInstance, store: Store, webhooks: Webhooks) {
	scope.removeAllContentTypeParsers();
	await scope.register(formbody, { bodyLimit: FORM_LIMIT_IN_BYTES });
	scope.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
		const { statusCode = 500, message } = error;
		if (statusCode >= 500) console.error(error);
		return page(reply.code(statusCode), 'problem', { title: 'That did not work', message });
	});
	scope.get('/pico.css', (_request, reply) => reply.type('text/css').send(stylesheet));

	scope.get<Asked>('/users', ({ query }, reply) => {
		const search = String(query.search ?? '').trim();
		const found = store.listUsers(0, MOST_ROWS, search);
		return page(reply, 'users', { title: 'Users', search, ...found });
	});
	scope.get<Asked>('/users/:id', ({ params: { id } }, reply) => {
		const user = existing(store.findUser(id), id);
		const title = `${user.firstName} ${user.lastName}`;
		return page(reply, 'user', { title, user, resumes: store.listResumes(id) });
	});
	scope.get<Asked>('/resumes/:id', ({ params: { id }, query }, reply) => {
		const resume = existing(store.findResume(id), id);
		const { title, sections } = resume;
		const queued = webhooks.list().length;
		const { saved } = query;
		return page(reply, 'resume', { title, resume, ...scoreResume(sections), saved, queued });
	});
	scope.post<Asked>('/sections/:id', { schema: { body: sectionForm } }, (request, reply) => {
		const { id } = request.params;
		const { title, content } = request.body as { title: string; content: string };
		// With the line ends that the API uses.
		const fields = { title: title.trim(), content: content.replace(/\r\n?/g, '\n') };
		const { resumeId } = webhooks.saveSection(id, fields);
		return reply.redirect(`${CONSOLE_PATH}/resumes/${resumeId}?saved=${id}#${id}`, 303);
	});

	scope.get('/webhooks', (_request, reply) => {
		const deliveries = webhooks.deliveries().slice(0, MOST_ROWS);
		const lists = { styles: STYLES, webhooks: webhooks.list(), deliveries };
		return page(reply, 'webhooks', { title: 'Webhooks', ...lists });
	});
	const back = (reply: FastifyReply) => reply.redirect(`${CONSOLE_PATH}/webhooks`, 303);
	scope.post<Asked>('/webhooks', { schema: { body: webhookForm } }, ({ body }, reply) => {
		const filled = Object.entries(body).filter(([, value]) => value !== '');
		webhooks.register(Object.fromEntries(filled) as unknown as WebhookRegistration);
		return back(reply);
	});
	scope.post<Asked>('/webhooks/:id/remove', ({ params }, reply) => {
		webhooks.remove(Number(params.id));
		return back(reply);
	});
	scope.post<Asked>('/deliveries/:id/redeliver', ({ params }, reply) => {
		webhooks.redeliver(Number(params.id));
		return back(reply);
	});
}

function page(reply: FastifyReply, view: string, data: object): FastifyReply {
	return reply.type('text/html; charset=utf-8').send(eta.render(view, { ...helpers, ...data }));
}

/** @throws there is nothing of this ID */
function existing<Found>(found: Found | undefined, id: string): Found {
	if (found === undefined) throw refusal(`There is no ${id}.`, 404);
	return found;
}
