import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import formbody from '@fastify/formbody';
import { Eta } from 'eta';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { BASE_PATH } from '../api.mts';
import { AI_TOKENS, PLANS, SANDBOX_KEYS } from '../catalogue.mts';
import { scoreResume } from '../score.mts';
import type { Resume, Store, User } from '../store.mts';
import { STYLES, type WebhookRegistration } from '../webhooks/signature.mts';
import { refusal, type Webhooks } from '../webhooks/webhooks.mts';

const require = createRequire(import.meta.url);

/** Where the pages are on the sandbox's port. */
export const CONSOLE_PATH = '/console';

/** Room for a section as large as the API takes, with every byte percent-encoded. */
const FORM_LIMIT_IN_BYTES = 4 * 1024 * 1024;

/** How many users, and how many deliveries, a page shows. */
const MOST_ROWS = 100;

const STYLESHEETS = {
	pico: require.resolve('@picocss/pico/css/pico.classless.blue.min.css'),
	console: join(import.meta.dirname, 'console.css'),
};

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

const text = { type: 'string' };
const sectionForm = {
	type: 'object',
	required: ['title', 'content'],
	properties: { title: { ...text, pattern: '\\S' }, content: text },
};
const webhookForm = { type: 'object', required: ['url', 'style'], additionalProperties: text };

/** The web pages of the sandbox: plain forms, no script. */
export async function consoleRoutes(scope: FastifyInstance, store: Store, webhooks: Webhooks) {
	scope.removeAllContentTypeParsers();
	await scope.register(formbody, { bodyLimit: FORM_LIMIT_IN_BYTES });
	scope.addHook('onRequest', refuseOtherSites);
	scope.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
		const { statusCode = 500, message } = error;
		if (statusCode >= 500) console.error(error);
		return page(reply.code(statusCode), 'problem', { title: 'That did not work', message });
	});
	for (const [name, path] of Object.entries(STYLESHEETS)) {
		const stylesheet = readFileSync(path);
		scope.get(`/${name}.css`, (_request, reply) => reply.type('text/css').send(stylesheet));
	}
	dataPages(scope, store, webhooks);
	webhookPages(scope, webhooks);
}

/** Users, their resumes, the sections of a resume, keys and plans. */
function dataPages(scope: FastifyInstance, store: Store, webhooks: Webhooks): void {
	scope.get('/', (_request, reply) => reply.redirect(`${CONSOLE_PATH}/users`));

	scope.get<{ Querystring: Form }>('/users', ({ query }, reply) => {
		const search = String(query.search ?? '').trim();
		const found = store.listUsers(0, MOST_ROWS, search);
		return page(reply, 'users', { title: 'Users', search, ...found });
	});

	scope.get<{ Params: { id: string } }>('/users/:id', ({ params }, reply) => {
		const user = existing(store.findUser(params.id), params.id);
		const resumes = store.listResumes(user.id).map((resume) => ({
			...resume,
			score: scoreResume((store.findResume(resume.id) as Resume).sections).score,
		}));
		return page(reply, 'user', { title: nameOf(user), user, resumes });
	});

	scope.get<{ Params: { id: string }; Querystring: Form }>('/resumes/:id', (request, reply) => {
		const resume = existing(store.findResume(request.params.id), request.params.id);
		return page(reply, 'resume', {
			title: resume.title,
			resume,
			owner: nameOf(store.findUser(resume.userId) as User),
			...scoreResume(resume.sections),
			saved: request.query.saved,
			queued: webhooks.list().length,
		});
	});

	scope.post<{ Params: { id: string }; Body: { title: string; content: string } }>(
		'/sections/:id',
		{ schema: { body: sectionForm } },
		({ params: { id }, body }, reply) => {
			// With the line ends that the API uses.
			const content = body.content.replace(/\r\n?/g, '\n');
			const { resumeId } = webhooks.saveSection(id, { title: body.title.trim(), content });
			return reply.redirect(`${CONSOLE_PATH}/resumes/${resumeId}?saved=${id}#${id}`, 303);
		},
	);

	scope.get('/keys', (request, reply) =>
		page(reply, 'keys', {
			title: 'Keys and plans',
			values: [
				[`http://${request.host}${BASE_PATH}`, 'base URL'],
				[SANDBOX_KEYS.live, 'private key with which everything works'],
				[SANDBOX_KEYS.unarranged, 'private key without plan upgrades'],
				...PLANS.map(({ id, periodDays }) => [id, `plan of ${periodDays} days`]),
				...AI_TOKENS.map(({ id, credits }) => [id, `AI token of ${credits} credits`]),
			],
		}),
	);
}

/** Registered webhooks, and the deliveries to them. */
function webhookPages(scope: FastifyInstance, webhooks: Webhooks): void {
	const back = (reply: FastifyReply) => reply.redirect(`${CONSOLE_PATH}/webhooks`, 303);

	scope.get('/webhooks', (_request, reply) =>
		page(reply, 'webhooks', {
			title: 'Webhooks',
			styles: STYLES,
			webhooks: webhooks.list(),
			deliveries: webhooks.deliveries().slice(0, MOST_ROWS),
		}),
	);

	scope.post<{ Body: Form }>('/webhooks', { schema: { body: webhookForm } }, ({ body }, reply) => {
		const filled = Object.entries(body).filter(([, value]) => value !== '');
		webhooks.register(Object.fromEntries(filled) as unknown as WebhookRegistration);
		return back(reply);
	});

	scope.post<{ Params: { id: string } }>('/webhooks/:id/remove', ({ params }, reply) => {
		webhooks.remove(Number(params.id));
		return back(reply);
	});

	scope.post<{ Params: { id: string } }>('/deliveries/:id/redeliver', ({ params }, reply) => {
		webhooks.redeliver(Number(params.id));
		return back(reply);
	});
}

function page(reply: FastifyReply, view: string, data: object): FastifyReply {
	return reply.type('text/html; charset=utf-8').send(eta.render(view, { ...helpers, ...data }));
}

function nameOf({ firstName, lastName }: User): string {
	return `${firstName} ${lastName}`;
}

/** @throws there is nothing of this ID */
function existing<Found>(found: Found | undefined, id: string): Found {
	if (found === undefined) throw refusal(`There is no ${id}.`, 404);
	return found;
}

/**
 * A hook that lets no page of another web site send a form.
 *
 * @throws 403
 */
async function refuseOtherSites({ headers }: FastifyRequest): Promise<void> {
	const { origin, host } = headers;
	if (origin === undefined || URL.parse(origin)?.host === host) return;
	throw refusal('This form was sent by another web site, so nothing was changed.', 403);
}
