import type {
	ILoadOptionsFunctions,
	INodeListSearchResult,
	NodeApiError,
	NodeOperationError,
} from 'n8n-workflow';

import { isObject } from '../../shared/json';
import { hideSecrets, type Secrets } from '../../shared/secrets';
import { requestAnswer } from '../http/answer';
import { readCredential } from '../http/credential';
import { Failure, toNodeApiError } from '../../shared/failure';
import { resumeId } from '../operations/fields';
import { findList } from '../output/list';
import { EMAILS, first, idNames, idOf, propertiesOf } from '../output/records';
import { ParameterReader } from '../../shared/parameters';

/** What a picker offers. */
interface Source {
	/** @throws Failure when a record that the path names is not picked yet */
	path(context: ILoadOptionsFunctions): string;
	/** What to do when the service has none. */
	ifNone: string;
}

/** Records to pick from, by the name of their list. */
export type Records = 'users' | 'resumes';

const SOURCES: Record<Records, Source> = {
	users: {
		path: () => '/users',
		ifNone: "Check that the credential's Private Key belongs to the account that has the users.",
	},
	resumes: {
		path: (context) => {
			const userId = context.getCurrentNodeParameter('listUserId', { extractValue: true });
			if (!userId) throw new Failure('picker.noUser');
			return `/user/${new ParameterReader(resumeId, () => userId).id('listUserId')}/resumes`;
		},
		ifNone: 'This user has none yet. Pick another user, or create a resume for this one.',
	},
};

/** Properties that may name a record. */
const NAMES = ['name', 'fullname', 'displayname', 'title'];
const GIVEN_NAMES = ['firstname', 'lastname'];

/** Milliseconds that a person waits for a list. */
const TIMEOUT = 20_000;

/** Results that n8n adds to its list at a time. For each page of them, the list is requested whole. */
const PAGE_SIZE = 1_000;

/**
 * Requests a list, and offers those of its records that have an ID and match what was typed. The
 * specification shows no paging (§4.2), so the list is requested whole.
 * @throws NodeApiError with the reason why there is nothing to pick from
 */
export async function pick(
	context: ILoadOptionsFunctions,
	records: Records,
	filter = '',
	paginationToken: unknown = 0,
): Promise<INodeListSearchResult> {
	let options: Option[];
	try {
		options = await findOptions(context, records);
	} catch (error) {
		throw toDropdownError(context, error);
	}
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
}

interface Option {
	name: string;
	value: string;
}

async function findOptions(context: ILoadOptionsFunctions, records: Records): Promise<Option[]> {
	const source = SOURCES[records];
	const path = source.path(context);
	const credential = await readCredential(context);
	const http = { timeout: TIMEOUT };
	const request = { method: 'GET', path, write: false, retries: 0, file: false, http } as const;
	const { body } = await requestAnswer({ context }, credential, request);
	const { elements } = findList(body, { path: '', name: records, advice: ENTER_ID });
	if (elements.length === 0) throw new Failure('picker.none', { records, advice: source.ifNone });
	const options = elements.flatMap((element) => toOption(element, records));
	if (options.length === 0) throw withoutIds(records, elements, credential.secrets);
	return options;
}

const ENTER_ID = 'Switch this field to By ID, and enter the ID.';

function toOption(element: unknown, records: string): Option[] {
	const record = propertiesOf(element);
	const value = idOf(record, records);
	if (value === undefined) return [];
	const given = GIVEN_NAMES.map((name) => first(record, [name])).filter(Boolean);
	const label = [first(record, NAMES) ?? given.join(' '), first(record, EMAILS)].filter(Boolean);
	return [{ name: label.join(' · ') || value, value }];
}

function withoutIds(records: string, [element]: unknown[], secrets: Secrets): Failure {
	const names = Object.keys(isObject(element) ? element : {}).join(', ') || 'none';
	return new Failure('picker.withoutIds', {
		records,
		properties: idNames(records).join(', '),
		names: hideSecrets(names, secrets),
	});
}

/**
 * The failure as n8n's editor shows it in the list: of a NodeApiError its status, message and
 * description, of any other error the message alone (`sendErrorResponse` of n8n/src/response-helper.ts
 * and ResourceLocator.vue of n8n's editor).
 */
function toDropdownError(context: ILoadOptionsFunctions, cause: unknown): NodeApiError {
	const { message, description } = cause as NodeOperationError;
	const failure =
		cause instanceof Failure
			? cause
			: new Failure('picker.other', { message, description: description ?? '' });
	const error = toNodeApiError(context.getNode(), failure, 0);
	// The editor takes the message apart at its hyphens, which a code such as connect-01 has.
	error.message = error.message.replaceAll('-', '\u2011');
	// Nor does it help to read "200" before an error, or "none".
	const { httpStatus = 0 } = failure.facts;
	if (httpStatus < 400) error.httpCode = null;
	return error;
}
