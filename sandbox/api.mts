import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { createPdf } from './pdf.mts';
import { scoreResume } from './score.mts';
import { AI_CREDITS, SANDBOX_KEYS, SANDBOX_PLANS } from './seed.mts';
import type { NewResume, Store, User } from './store.mts';

/** The base URL ends with the version segment (specification §4 and §9). */
export const BASE_PATH = '/v1';

const UPGRADE = '/plan/upgrade';

/** Two paths of the same capability (specification §4.2). */
const CONNECT = ['/user/token', '/connect'];

/**
 * All errors. The specification shows the first five, with their messages (§7.2 and §7.3). The others begin with `sandbox-`, so
 * that nobody takes them for the service's own.
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
	'sandbox-unauthorized': 'This private key is not known, or none was sent.',
	'sandbox-unknown-ai-token': 'There is no such aiTokenId.',
	'sandbox-unknown-email': 'No user has this email address.',
	'sandbox-unknown-resume': 'There is no such resume.',
	'sandbox-unknown-user': 'There is no such user.',
};

function fail(code: keyof typeof MESSAGES): never {
	throw Object.assign(new Error(MESSAGES[code]), { code, statusCode: 200 });
}

const text = { type: 'string' };
const section = { type: 'object', properties: { type: text, title: text, content: text } };
const newResume = {
	type: 'object',
	properties: { title: text, sections: { type: 'array', items: section } },
};

interface Resource {
	Params: { id: string };
}

/** Adds the nine operations of the specification (§4), and `/connect`. */
export function apiRoutes(scope: FastifyInstance, store: Store): void {
	scope.setErrorHandler((error: ApiError, request, reply) =>
		sendError(store, error, request, reply),
	);
	scope.addHook('preValidation', authenticate);
	const user = (id: string) => store.findUser(id) ?? fail('sandbox-unknown-user');
	const resume = (id: string) => store.findResume(id) ?? fail('sandbox-unknown-resume');

	scope.get('/users', ({ query }) => {
		const { offset = 0, limit = Infinity } = query as Record<string, string | undefined>;
		return success(store.listUsers().slice(Number(offset), Number(offset) + Number(limit)));
	});
	scope.get<Resource>('/user/:id', ({ params }) => success(user(params.id)));
	scope.get<Resource>('/user/:id/resumes', ({ params }) =>
		success(store.listResumes(user(params.id).id)),
	);
	scope.post<Resource>('/user/:id/resume', { schema: { body: newResume } }, ({ params, body }) =>
		success(store.createResume(user(params.id).id, body as NewResume)),
	);
	scope.get<Resource>('/resume/:id', ({ params }) => success(resume(params.id)));
	scope.get<Resource>('/resume/:id/score', ({ params }) => {
		const { id, sections } = resume(params.id);
		return success({ resumeId: id, ...scoreResume(sections) });
	});
	scope.get<Resource>('/resume/:id/download', ({ params }, reply) => {
		const { title, userId } = resume(params.id);
		const { firstName, lastName } = user(userId);
		// encodeURIComponent throws for half a surrogate pair, and does not encode all that RFC 8187 wants encoded.
		const name = encodeURIComponent(title.toWellFormed()).replace(/['()*]/g, '_');
		return reply
			.type('application/pdf')
			.header('content-disposition', `attachment; filename*=UTF-8''${name}.pdf`)
			.send(createPdf([title, `${firstName} ${lastName}`]));
	});
	for (const path of CONNECT) {
		scope.post(path, ({ body }) => {
			return { status: 'success', token: createToken(userOf(store, body) ?? fail('connect-01')) };
		});
	}
	scope.post(UPGRADE, (request) => success(upgradePlan(store, request)));
}

/** Days that a plan lasts. */
export const DAYS = { premium: 365, other: 30 };

function upgradePlan(store: Store, request: FastifyRequest) {
	const { planId, aiTokenId } = request.body as Record<string, unknown>;
	if (!Object.values<unknown>(SANDBOX_PLANS).includes(planId)) fail('plan-upgrade-2');
	const user = userOf(store, request.body) ?? fail('sandbox-unknown-email');
	if (aiTokenId !== undefined && !AI_CREDITS.has(aiTokenId)) fail('sandbox-unknown-ai-token');
	if (planId === SANDBOX_PLANS.failingPayment) fail('plan-upgrade-1');
	const days = planId === SANDBOX_PLANS.premium ? DAYS.premium : DAYS.other;
	const credits = AI_CREDITS.get(aiTokenId) ?? 0;
	const { email } = user;
	const apiKey = nameKey(request);
	return store.upgradeSubscription(user, days, credits, { email, planId, aiTokenId, apiKey });
}

/** Returns the user with the `email` of a body. */
function userOf(store: Store, body: unknown): User | undefined {
	return store.findUserByEmail(String((body as { email?: unknown }).email));
}

/** Returns the envelope of a success (specification §2). */
function success<Data>(data: Data) {
	return { status: 'success', data };
}

/** Requires both headers, a known private key and, for POST, a JSON object (specification §4, §5 and §7.2). */
async function authenticate(request: FastifyRequest) {
	const { headers, method, body, routeOptions } = request;
	if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')) {
		fail('sandbox-content-type');
	}
	const key = nameKey(request);
	const isUpgrade = routeOptions.url === BASE_PATH + UPGRADE;
	if (key === 'user token') fail(isUpgrade ? 'plan-upgrade-4' : 'sandbox-token-type');
	if (isUpgrade && key !== 'live') fail('plan-upgrade-3');
	if (!(key in SANDBOX_KEYS)) fail('sandbox-unauthorized');
	if (method === 'POST' && (typeof body !== 'object' || body === null || Array.isArray(body))) {
		fail('sandbox-malformed-body');
	}
}

/** Returns the name of the request's key, also to store: an unknown key may be a real one, and stays out of the database. */
function nameKey({ headers }: FastifyRequest): string {
	const [, key] = /^Bearer (\S+)$/.exec(String(headers.authentication)) ?? [];
	if (key === undefined) return 'none';
	const known = Object.entries(SANDBOX_KEYS).find(([, value]) => value === key);
	if (known) return known[0];
	// A JSON Web Token has three parts.
	return key.split('.').length === 3 ? 'user token' : 'unknown';
}

/** Returns a JSON Web Token that expires after an hour. No operation accepts it, so its signature is a placeholder. */
function createToken({ id, email }: User): string {
	const now = Math.floor(Date.now() / 1000);
	const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
	const claims = encode({ sub: id, email, iat: now, exp: now + 60 * 60 });
	return `${encode({ alg: 'HS256', typ: 'JWT' })}.${claims}.sandbox`;
}

type ApiError = Error & { statusCode?: number; code?: string };

/** Sends an error with the HTTP status and in the form of its operation (specification §2 and §7.1). */
function sendError(
	store: Store,
	error: ApiError,
	request: FastifyRequest,
	reply: FastifyReply,
): void {
	const { message, statusCode = 500, code = '' } = error;
	if (statusCode >= 500) {
		console.error(error);
		reply.code(500).send(failure('sandbox-server-failure', 'internal server error'));
		return;
	}
	// Other codes are Fastify's: a field of another type, or a body that is too large.
	const errorCode = code in MESSAGES ? code : 'sandbox-bad-request';
	const operation = request.routeOptions.url?.slice(BASE_PATH.length) ?? '';
	if (operation === UPGRADE) {
		const { email, planId, aiTokenId } = (request.body ?? {}) as Record<string, unknown>;
		store.addUpgradeRequest({ email, planId, aiTokenId, apiKey: nameKey(request), errorCode });
	}
	if (CONNECT.includes(operation)) {
		const sentence = `error code: ${errorCode}, please contact administrator`;
		reply.code(200).send({ status: 'error', errorCode: sentence });
	} else {
		reply.code(operation === UPGRADE ? 401 : 200).send(failure(errorCode, message));
	}
}

/** Returns the envelope of an error (specification §2). */
export function failure(errorCode: string, errorMessage: string) {
	return { status: 'error', errorCode, errorMessage };
}
