import type { FastifyInstance } from 'fastify';

import { scoreResume } from '../score.mts';
import { SANDBOX_KEYS } from '../seed.mts';
import type { Resume, Store, User } from '../store.mts';
import type { Webhooks } from '../webhooks/webhooks.mts';
import { readPaging, readSection, textOf, type Form } from './forms.mts';
import { PageError } from './problem.mts';
import { CONSOLE_PATH, sendPage } from './views.mts';

const USERS_ON_A_PAGE = 20;

interface WithId {
	Params: { id: string };
	Querystring: Form;
}

interface OfSection {
	Params: { id: string; sectionId: string };
	Body?: Form;
}

/** Users, their resumes, the sections of a resume, keys and plans. */
export function dataPages(
	scope: FastifyInstance,
	store: Store,
	webhooks: Webhooks,
	basePath: string,
): void {
	scope.get('/', (_request, reply) => reply.redirect(`${CONSOLE_PATH}/users`));

	scope.get<{ Querystring: Form }>('/users', (request, reply) => {
		const search = textOf(request.query, 'search').trim();
		const total = store.countUsers(search);
		const paging = readPaging(request, total, USERS_ON_A_PAGE);
		const users = store.listUsers({ ...paging, search });
		return sendPage(reply, 'users', { title: 'Users', search, total, paging, users });
	});

	scope.get<WithId>('/users/:id', (request, reply) => {
		const user = requireUser(store, request.params.id);
		const resumes = store.listResumes(user.id, { offset: 0 }).map((resume) => ({
			...resume,
			score: scoreResume(requireResume(store, resume.id).sections).score,
		}));
		return sendPage(reply, 'user', {
			title: nameOf(user),
			user,
			plan: store.findPlan(user.subscription?.plan_id ?? ''),
			resumes,
		});
	});

	scope.get<WithId>('/resumes/:id', (request, reply) => {
		const resume = requireResume(store, request.params.id);
		const queued = textOf(request.query, 'queued');
		return sendPage(reply, 'resume', {
			title: resume.title,
			resume,
			owner: nameOf(requireUser(store, resume.userId)),
			...scoreResume(resume.sections),
			saved: textOf(request.query, 'saved'),
			queued: /^\d{1,9}$/.test(queued) ? Number(queued) : 0,
		});
	});

	scope.post<OfSection>('/resumes/:id/sections/:sectionId', (request, reply) => {
		const { id, sectionId } = request.params;
		if (!requireResume(store, id).sections.some((section) => section.id === sectionId)) {
			throw new PageError(
				404,
				`The resume ${id} has no section ${sectionId}. Open the resume again.`,
			);
		}
		webhooks.saveSection(sectionId, readSection(request.body ?? {}));
		const query = new URLSearchParams({
			saved: sectionId,
			queued: String(webhooks.list().length),
		});
		return reply.redirect(`${CONSOLE_PATH}/resumes/${id}?${query}#${sectionId}`, 303);
	});

	scope.get('/keys', (request, reply) =>
		sendPage(reply, 'keys', {
			title: 'Keys and plans',
			baseUrl: `http://${request.host}${basePath}`,
			keys: SANDBOX_KEYS,
			plans: store.listPlans(),
			aiTokens: store.listAiTokens(),
		}),
	);
}

function nameOf({ firstName, lastName }: User): string {
	return `${firstName} ${lastName}`;
}

function requireUser(store: Store, id: string): User {
	const user = store.findUser(id);
	if (user === undefined) {
		throw new PageError(404, `There is no user ${id}. Look for the name in the list of users.`);
	}
	return user;
}

function requireResume(store: Store, id: string): Resume {
	const resume = store.findResume(id);
	if (resume === undefined) {
		throw new PageError(404, `There is no resume ${id}. Open its user to see all resumes.`);
	}
	return resume;
}
