import type { FastifyRequest } from 'fastify';

import { InputError } from '../errors.mts';
import type { WebhookRegistration } from '../webhooks/registration.mts';

/** Fields of a sent form by name. */
export type Form = Record<string, string | string[] | undefined>;

/** @returns an empty text for a field that is missing or there several times */
export function textOf(form: Form, name: string): string {
	const value = form[name];
	return typeof value === 'string' ? value : '';
}

/**
 * @returns the edited section, with the line ends that the API uses
 * @throws {InputError} a field is missing
 */
export function readSection(form: Form): { title: string; content: string } {
	const title = textOf(form, 'title').trim();
	if (title === '' || typeof form.content !== 'string') {
		throw new InputError('A section needs a title. Go back, enter one and save again.');
	}
	return { title, content: form.content.replace(/\r\n?/g, '\n') };
}

/** Fields that stay empty get their defaults on registration, which also judges the rest. */
export function readRegistration(form: Form): WebhookRegistration {
	return {
		url: textOf(form, 'url'),
		style: textOf(form, 'style') as WebhookRegistration['style'],
		secret: textOf(form, 'secret'),
		headerName: textOf(form, 'headerName'),
		encoding: textOf(form, 'encoding') as WebhookRegistration['encoding'],
		prefix: textOf(form, 'prefix').trim(),
		timestampHeader:
			textOf(form, 'signTimestamp') === '' ? undefined : textOf(form, 'timestampHeader'),
	};
}

export interface Paging {
	/** From 1. */
	page: number;
	pages: number;
	offset: number;
	limit: number;
}

/**
 * @param total how many records there are
 * @param limit how many of them are on a page
 * @returns the page that `page` of the query asks for, or the last one when it is behind that
 * @throws {InputError} `page` is no number
 */
export function readPaging(request: FastifyRequest, total: number, limit: number): Paging {
	const asked = textOf(request.query as Form, 'page') || '1';
	if (!/^\d{1,9}$/.test(asked)) {
		throw new InputError(`There is no page "${asked}". Page numbers begin with 1.`);
	}
	const pages = Math.max(1, Math.ceil(total / limit));
	const page = Math.min(Math.max(1, Number(asked)), pages);
	return { page, pages, offset: (page - 1) * limit, limit };
}
