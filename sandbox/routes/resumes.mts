import type { FastifyInstance } from 'fastify';

import { ServiceError } from '../errors.mts';
import { readBody, readSlice, success } from '../http.mts';
import { createPdf } from '../pdf.mts';
import { scoreResume } from '../score.mts';
import type { NewResume, NewSection, Resume, Store } from '../store.mts';
import { requireUser } from './users.mts';

interface OfUser {
	Params: { userID: string };
}

interface OfResume {
	Params: { resumeID: string };
}

/** Reading, creating, downloading and scoring resumes (specification §4.2). */
export function resumeRoutes(scope: FastifyInstance, store: Store): void {
	scope.get<OfUser>('/user/:userID/resumes', (request) => {
		const user = requireUser(store, request.params.userID);
		return success(store.listResumes(user.id, readSlice(request)));
	});

	scope.post<OfUser>('/user/:userID/resume', (request) => {
		const user = requireUser(store, request.params.userID);
		return success(store.createResume(user.id, readResume(readBody(request))));
	});

	scope.get<OfResume>('/resume/:resumeID', (request) =>
		success(requireResume(store, request.params.resumeID)),
	);

	scope.get<OfResume>('/resume/:resumeID/score', (request) => {
		const { id, sections } = requireResume(store, request.params.resumeID);
		return success({ resumeId: id, ...scoreResume(sections) });
	});

	scope.get<OfResume>('/resume/:resumeID/download', async (request, reply) => {
		const resume = requireResume(store, request.params.resumeID);
		const file = await createPdf(resume);
		return reply
			.type('application/pdf')
			.header('content-disposition', attachment(`${resume.title}.pdf`))
			.send(Buffer.from(file));
	});
}

function requireResume(store: Store, id: string): Resume {
	const resume = store.findResume(id);
	if (resume === undefined) {
		throw new ServiceError('sandbox-unknown-resume', `There is no resume ${id}.`);
	}
	return resume;
}

/** Everything may be left out; what is not known is kept. */
function readResume(body: Record<string, unknown>): NewResume {
	const { title, sections = [], ...extra } = body;
	if (!Array.isArray(sections)) {
		throw new ServiceError('sandbox-invalid-resume', 'sections must be a list.');
	}
	return {
		title: readText(title, 'title', 'Untitled resume'),
		sections: sections.map(readSection),
		extra,
	};
}

function readSection(section: unknown, index: number): NewSection {
	if (typeof section !== 'object' || section === null || Array.isArray(section)) {
		throw new ServiceError('sandbox-invalid-resume', `sections[${index}] must be an object.`);
	}
	const { type, title, content, ...extra } = section as Record<string, unknown>;
	const sectionType = readText(type, `sections[${index}].type`, 'other');
	return {
		type: sectionType,
		title: readText(title, `sections[${index}].title`, sectionType),
		content: readText(content, `sections[${index}].content`, ''),
		extra,
	};
}

function readText(value: unknown, name: string, missing: string): string {
	if (value === undefined) return missing;
	if (typeof value === 'string') return value;
	throw new ServiceError('sandbox-invalid-resume', `${name} must be a text.`);
}

/** `Content-Disposition` with the name in plain ASCII and, for newer clients, in full (RFC 6266). */
function attachment(name: string): string {
	const safe = name.replace(/[\p{Control}\\/:*?"<>|]/gu, '_');
	const ascii = safe.replace(/[^ -~]/g, '_');
	const full = encodeURIComponent(safe).replace(
		/['()*]/g,
		(character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
	);
	return `attachment; filename="${ascii}"; filename*=UTF-8''${full}`;
}
