import type {
	ILoadOptionsFunctions,
	INodeListSearchItems,
	INodeListSearchResult,
} from 'n8n-workflow';

import { readCredential } from '../../shared/credential';
import { Failure, toNodeApiError, toNodeError } from '../../shared/failure';
import { EMAIL, GIVEN_NAMES, idNames, NAMES, shownNames } from '../../shared/names';
import { ParameterReader } from '../../shared/parameters';
import { requestJson } from '../http/response';
import { resumePicker } from '../operations/fields';
import { idOf, findList, stringsNamed } from '../output/lists';

/** Name of a list to pick from. */
type PickerList = 'users' | 'resumes';

/** Milliseconds that a person may wait for a list. */
const TIMEOUT = 20_000;

/** Results in a page of n8n's list. The service is asked for the whole list each time. */
const PAGE_SIZE = 1_000;

export const searchUsers = picker('users');
export const searchResumes = picker('resumes');

/**
 * Returns n8n's method for a resource locator's list: it requests the list, and offers those of its records that have an ID
 * and match what the user typed. The specification shows no paging (§4.2), so one request is sent.
 * @throws NodeApiError with the reason why there is nothing to pick from
 */
function picker(list: PickerList) {
	return async function (
		this: ILoadOptionsFunctions,
		filter = '',
		paginationToken: unknown = 0,
	): Promise<INodeListSearchResult> {
		const options = await findOptions(this, list).catch((error: unknown) => {
			throw toEditorError(this, error);
		});
		const wanted = filter.trim().toLowerCase();
		const matching = options.filter(({ name, value }) =>
			`${name} ${value}`.toLowerCase().includes(wanted),
		);
		const start = Number(paginationToken);
		const end = start + PAGE_SIZE;
		return {
			results: matching.slice(start, end),
			...(end < matching.length && { paginationToken: String(end) }),
		};
	};
}

async function findOptions(
	context: ILoadOptionsFunctions,
	list: PickerList,
): Promise<INodeListSearchItems[]> {
	const path = list === 'users' ? '/users' : resumesPath(context);
	const credential = await readCredential(context);
	const request = { method: 'GET', path, retries: 0, http: { timeout: TIMEOUT } } as const;
	const { body } = await requestJson({ context }, { ...request, credential });
	const found = findList(body, { name: list });
	if ('problem' in found) throw new Failure('picker.noList', { list, names: shownNames(body) });
	const { records } = found;
	if (records.length === 0) throw new Failure('picker.none', { list });
	const options = records.flatMap((record) => toOption(record, list));
	if (options.length > 0) return options;
	const properties = idNames(list).join(', ');
	throw new Failure('picker.withoutIds', { list, properties, names: shownNames(records[0]) });
}

/** @throws Failure if no user is picked yet: the service lists the resumes of one user only */
function resumesPath(context: ILoadOptionsFunctions): string {
	const userId = context.getCurrentNodeParameter('listUserId', { extractValue: true });
	if (!userId) throw new Failure('picker.noUser');
	// For its check of an ID, and the texts of its errors.
	const parameters = new ParameterReader(resumePicker, () => userId);
	return `/user/${parameters.id('listUserId')}/resumes`;
}

function toOption(record: unknown, list: PickerList): INodeListSearchItems[] {
	const value = idOf(record, list);
	if (value === undefined) return [];
	const [name = stringsNamed(record, GIVEN_NAMES).join(' ')] = stringsNamed(record, NAMES);
	const label = [name, ...stringsNamed(record, EMAIL)].filter(Boolean);
	return [{ name: label.join(' · ') || value, value }];
}

/**
 * Returns the error as n8n's editor shows it in the list. The editor shows status, message and description of a
 * NodeApiError, and the message alone of any other error (n8n/src/response-helper.ts and ResourceLocator.vue).
 */
function toEditorError(context: ILoadOptionsFunctions, cause: unknown): Error {
	if (!(cause instanceof Failure)) return toNodeError(context.getNode(), cause);
	const error = toNodeApiError(context.getNode(), cause);
	// The editor takes the message apart at its hyphens, which a code such as connect-01 has.
	error.message = error.message.replaceAll('-', '\u2011');
	// The editor would show "200" or "none" before the error.
	const { httpStatus = 0 } = cause.facts;
	if (httpStatus < 400) error.httpCode = null;
	return error;
}
