import { createHmac } from 'node:crypto';

import { create as contentDisposition } from 'content-disposition';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { AI_CREDITS, PLAN_DAYS, SANDBOX_KEYS, SANDBOX_PLANS } from './catalogue.mts';
import { createPdf } from './pdf.mts';
import { scoreResume } from './score.mts';
import type { NewResume, Store, User } from './store.mts';

/** The base address ends with the version segment (specification §4 and §9). */
export const BASE_PATH = '/v1';

const UPGRADE = '/plan/upgrade';

/** Two addresses of the same capability (specification §4.2). */
const CONNECT = ['/user/token', '/connect'];

/**
 * The errors of plan upgrade, word for word (specification §7.2), and those that it does not show: they
 * begin with `sandbox-`, so that nobody takes them for the service's own.
 */
const MESSAGES = {
	'connect-01': 'unknown',
	'plan-upgrade-1': 'stripe error',
	'plan-upgrade-2': 'wrong plan ID',
	'plan-upgrade-3': 'unauthorized token',
	'plan-upgrade-4': 'token type error',
	'sandbox-content-type': 'Every request needs the header "Content-type: application/json".',
	'sandbox-malformed-body': 'The body must be a JSON object.',
	'sandbox-token-type': 'A user token is not a private API key.',
	'sandbox-unauthorized': 'Every request needs the header "Authentication: Bearer <a known key>".',
	'sandbox-unknown-ai-token': 'There is no such aiTokenId.',
	'sandbox-unknown-email': 'No user has this e-mail address.',
	'sandbox-unknown-resume': 'There is no such resume.',
	'sandbox-unknown-user': 'There is no such user.',
};

/** An error that the service answers with, inside the error envelope (specification §2). */
class ServiceError extends Error {
	readonly code: keyof typeof MESSAGES;
	readonly statusCode = 200;

	constructor(code: keyof typeof MESSAGES) {
		super(MESSAGES[code]);
		this.code = code;
	}
}

/** What exists, or the error that it does not. */
function required<Found>(found: Found | undefined, code: keyof typeof MESSAGES): Found {
	if (found !== undefined) return found;
	throw new ServiceError(code);
}

const text = { type: 'string' };
const section = { type: 'object', properties: { type: text, title: text, content: text } };
const newResume = {
	type: 'object',
	properties: { title: text, sections: { type: 'array', items: section } },
};
const digits = { type: 'string', pattern: '^\\d{1,9}$' };
const slice = { type: 'object', properties: { limit: digits, offset: digits } };

/** The nine operations of the specification (§4), and `/connect`. */
export function apiRoutes(scope: FastifyInstance, store: Store): void {
	scope.setErrorHandler(answerError);
	scope.addHook('preValidation', authenticate);
	const idOf = ({ params }: { params: unknown }) => (params as { id: string }).id;
	const user = (request: { params: unknown }) =>
		required(store.findUser(idOf(request)), 'sandbox-unknown-user');
	const resume = (request: { params: unknown }) =>
		required(store.findResume(idOf(request)), 'sandbox-unknown-resume');

	scope.get('/users', { schema: { querystring: slice } }, ({ query }) => {
		const { offset = 0, limit = Infinity } = query as Record<string, string | undefined>;
		return success(store.listUsers(Number(offset), Number(limit)).users);
	});
	scope.get('/user/:id', (request) => success(user(request)));
	scope.get('/user/:id/resumes', (request) => success(store.listResumes(user(request).id)));
	scope.post('/user/:id/resume', { schema: { body: newResume } }, (request) =>
		success(store.createResume(user(request).id, request.body as NewResume)),
	);
	scope.get('/resume/:id', (request) => success(resume(request)));
	scope.get('/resume/:id/score', (request) => {
		const { id, sections } = resume(request);
		return success({ resumeId: id, ...scoreResume(sections) });
	});
	scope.get('/resume/:id/download', async (request, reply) => {
		const found = resume(request);
		const name = `${found.title}.pdf`.replace(/[\p{Control}\\/:*?"<>|]/gu, '_');
		return reply
			.type('application/pdf')
			.header('content-disposition', contentDisposition(name))
			.send(Buffer.from(await createPdf(found)));
	});
	for (const address of CONNECT) {
		scope.post(address, ({ body }) => {
			const { id, email } = required(userOf(store, body), 'connect-01');
			return { status: 'success', token: createToken({ sub: id, email }) };
		});
	}
	scope.post(UPGRADE, ({ body }) => success(upgradePlan(store, body as Record<string, unknown>)));
}

function upgradePlan(store: Store, body: Record<string, unknown>) {
	const { planId, aiTokenId } = body;
	if (!PLAN_DAYS.has(planId)) throw new ServiceError('plan-upgrade-2');
	const user = required(userOf(store, body), 'sandbox-unknown-email');
	if (aiTokenId !== undefined && !AI_CREDITS.has(aiTokenId)) {
		throw new ServiceError('sandbox-unknown-ai-token');
	}
	if (planId === SANDBOX_PLANS.failingPayment) throw new ServiceError('plan-upgrade-1');
	return store.upgradeSubscription(user, planId as string, aiTokenId as string | undefined);
}

/** The user that a body names by `email`. */
function userOf(store: Store, body: unknown): User | undefined {
	return store.findUserByEmail(String((body as { email?: unknown }).email));
}

/** The envelope of a success (specification §2). */
function success<Data>(data: Data) {
	return { status: 'success', data };
}

/**
 * A hook that lets only requests with both required headers, a known private key and, where they
 * have a body, a JSON object pass (specification §4 and §5).
 *
 * @throws {ServiceError} what is missing; on plan upgrade the errors of §7.2
 */
async function authenticate({ headers, method, body, routeOptions }: FastifyRequest) {
	if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')) {
		throw new ServiceError('sandbox-content-type');
	}
	const [, key = ''] = /^Bearer (\S+)$/.exec(String(headers.authentication)) ?? [];
	const isUpgrade = routeOptions.url === BASE_PATH + UPGRADE;
	// Three parts make a JSON Web Token.
	if (key.split('.').length === 3) {
		throw new ServiceError(isUpgrade ? 'plan-upgrade-4' : 'sandbox-token-type');
	}
	if (isUpgrade && key !== SANDBOX_KEYS.live) throw new ServiceError('plan-upgrade-3');
	if (!Object.values(SANDBOX_KEYS).includes(key)) {
		throw new ServiceError('sandbox-unauthorized');
	}
	if (method === 'POST' && (typeof body !== 'object' || body === null || Array.isArray(body))) {
		throw new ServiceError('sandbox-malformed-body');
	}
}

/** @returns a JSON Web Token (HS256) that ends after an hour; it opens nothing */
function createToken(claims: object): string {
	const now = Math.floor(Date.now() / 1000);
	const parts = [
		{ alg: 'HS256', typ: 'JWT' },
		{ ...claims, iat: now, exp: now + 60 * 60 },
	];
	const content = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
	const signature = createHmac('sha256', 'sandbox').update(content.join('.')).digest('base64url');
	return [...content, signature].join('.');
}

/**
 * Answers HTTP 200 with the code (specification §7.1 rule 1), but plan upgrade HTTP 401 (rule 3), the
 * connect operation with the code in a sentence (§2 rule 5), and what nobody foresaw HTTP 500 (rule 2).
 */
export function answerError(error: Error, request: FastifyRequest, reply: FastifyReply): void {
	const { statusCode = 500 } = error as { statusCode?: number };
	if (statusCode >= 500) {
		console.error(error);
		reply.code(500).send(failure('sandbox-server-failure', 'internal server error'));
		return;
	}
	// What the framework refuses: a field of another type, a body that is too large.
	const code = error instanceof ServiceError ? error.code : 'sandbox-bad-request';
	const operation = request.routeOptions.url?.slice(BASE_PATH.length) ?? '';
	if (CONNECT.includes(operation)) {
		const errorCode = `error code: ${code}, please contact administrator`;
		reply.code(200).send({ status: 'error', errorCode });
	} else {
		reply.code(operation === UPGRADE ? 401 : 200).send(failure(code, error.message));
	}
}

/** Answers an address that is none of the service's. */
export function answerUnknownAddress(request: FastifyRequest, reply: FastifyReply): void {
	const address = `${request.method} ${request.url.split('?')[0]}`;
	reply.code(404).send(failure('sandbox-unknown-address', `There is no operation ${address}.`));
}

function failure(errorCode: string, errorMessage: string) {
	return { status: 'error', errorCode, errorMessage };
}
