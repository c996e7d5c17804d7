import type {
	ILoadOptionsFunctions,
	INodeListSearchItems,
	INodeListSearchResult,
} from 'n8n-workflow';

import { readCredential } from '../../shared/credential';
import { Failure, toNodeApiError, toNodeError } from '../../shared/failure';
import { shownNames } from '../../shared/json';
import { toSegment, trimInvisible } from '../../shared/text';
import { requestJson } from '../http/request';
import { findList } from '../responses/findList';
import { idOf, stringsNamed } from '../responses/ids';
import { EMAIL, GIVEN_NAMES, idNames, NAMES } from '../responses/names';

/** The editor shows nothing until the list is there. */
const TIMEOUT_MS = 20_000;

/** Results in a page of n8n's list. The service is asked for the whole list each time. */
const PAGE_SIZE = 1_000;

/**
 * n8n's method for the list of the field User.
 * @throws NodeApiError with the reason why there is nothing to pick from
 */
export async function searchUsers(
	this: ILoadOptionsFunctions,
	filter?: string,
	paginationToken?: unknown,
): Promise<INodeListSearchResult> {
	return await search(this, 'users', filter, paginationToken);
}

/**
 * As {@link searchUsers}, for the field Resume: the resumes of the user in the field Resumes of
 * User.
 */
export async function searchResumes(
	this: ILoadOptionsFunctions,
	filter?: string,
	paginationToken?: unknown,
): Promise<INodeListSearchResult> {
	return await search(this, 'resumes', filter, paginationToken);
}

/**
 * Requests a list, and offers those of its records that have an ID and match what the user typed.
 */
async function search(
	context: ILoadOptionsFunctions,
	list: 'users' | 'resumes',
	filter = '',
	paginationToken: unknown = 0,
): Promise<INodeListSearchResult> {
	try {
		const wanted = filter.trim().toLowerCase();
		const matching = toOptions(await requestRecords(context, list), list).filter(
			({ name, value }) => `${name} ${value}`.toLowerCase().includes(wanted),
		);
		const start = Number(paginationToken);
		const end = start + PAGE_SIZE;
		return {
			results: matching.slice(start, end),
			...(end < matching.length && { paginationToken: String(end) }),
		};
	} catch (error) {
		throw toEditorError(context, error);
	}
}

/** The specification shows no paging (§4.2), so one request is sent. @throws Failure */
async function requestRecords(
	context: ILoadOptionsFunctions,
	list: 'users' | 'resumes',
): Promise<unknown[]> {
	const path = list === 'users' ? '/users' : resumesPath(context);
	const credential = await readCredential(context);
	const { body } = await requestJson(context, {
		method: 'GET',
		path,
		credential,
		retries: 0,
		settings: { timeout: TIMEOUT_MS },
	});
	const found = findList(body, { name: list });
	if ('problem' in found) throw new Failure('picker.noList', { list, names: shownNames(body) });
	if (found.records.length === 0) throw new Failure('picker.none', { list });
	return found.records;
}

/** The service lists the resumes of one user only. @throws Failure if no user is picked yet */
function resumesPath(context: ILoadOptionsFunctions): string {
	const userId = context.getCurrentNodeParameter('listUserId', { extractValue: true });
	if (!userId) throw new Failure('picker.noUser');
	const segment = toSegment(trimInvisible(String(userId)));
	if (!segment) {
		const details = 'Nothing was sent.';
		throw new Failure('parameter.notAnId', { field: 'Resumes of User' }, { details });
	}
	return `/user/${segment}/resumes`;
}

/** @throws Failure if no record has an ID */
function toOptions(records: unknown[], list: 'users' | 'resumes'): INodeListSearchItems[] {
	const options = records.flatMap((record) => {
		const value = idOf(record, list);
		if (value === undefined) return [];
		const [fullName] = stringsNamed(record, NAMES);
		const name = fullName ?? stringsNamed(record, GIVEN_NAMES).join(' ');
		const label = [name, ...stringsNamed(record, EMAIL)].filter(Boolean).join(' · ');
		return [{ name: label || value, value }];
	});
	if (options.length > 0) return options;
	const properties = idNames(list).join(', ');
	throw new Failure('picker.withoutIds', { list, properties, names: shownNames(records[0]) });
}

/** Returns the error for n8n's editor, which shows the description of a NodeApiError only. */
function toEditorError(context: ILoadOptionsFunctions, cause: unknown): Error {
	if (!(cause instanceof Failure)) return toNodeError(context.getNode(), cause);
	const error = toNodeApiError(context.getNode(), cause);
	// The editor shows `httpCode` before the message. Without an HTTP error, that would be "200" or
	// "none".
	const { httpStatus = 0 } = cause.facts;
	if (httpStatus < 400) error.httpCode = null;
	return error;
}
