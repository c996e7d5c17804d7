import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';

import { InputError } from '../errors.mts';
import { sendPage } from './views.mts';

/** A request that is answered with a page that says what is wrong. */
export class PageError extends Error {
	readonly status: number;

	/** @param message a sentence that says what happened and what to do */
	constructor(status: number, message: string) {
		super(message);
		this.status = status;
	}
}

const TITLES: Record<number, string> = {
	400: 'That did not work',
	403: 'Refused',
	404: 'Not found',
	413: 'Too large',
};

const TOO_LARGE = 'The form is larger than the sandbox takes. Shorten the text and save it again.';

/** Answers what a page or a form throws. */
export function sendProblem(
	error: FastifyError | PageError | InputError,
	_request: FastifyRequest,
	reply: FastifyReply,
): FastifyReply {
	const { status, sentence } = describe(error);
	if (status >= 500) console.error(error);
	return sendPage(reply.code(status), 'problem', {
		title: TITLES[status] ?? 'Something went wrong',
		sentence,
	});
}

export function sendUnknownPage(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
	return sendPage(reply.code(404), 'problem', {
		title: TITLES[404],
		sentence: 'There is no such page. Choose one from the menu above.',
	});
}

function describe(error: FastifyError | PageError | InputError) {
	if (error instanceof PageError) return { status: error.status, sentence: error.message };
	if (error instanceof InputError) return { status: 400, sentence: error.message };
	const { statusCode: status = 500, message } = error;
	if (status >= 500) {
		return { status, sentence: 'The sandbox could not do this. Its terminal says why.' };
	}
	return {
		status,
		sentence: status === 413 ? TOO_LARGE : `The request cannot be read: ${message}.`,
	};
}
