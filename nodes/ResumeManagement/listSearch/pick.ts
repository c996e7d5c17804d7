import type {
	ILoadOptionsFunctions,
	INode,
	INodeListSearchResult,
	NodeApiError,
	NodeOperationError,
} from 'n8n-workflow';

import { readBody } from '../answer/body';
import { Failure, toNodeApiError } from '../answer/failure';
import { isObject } from '../answer/json';
import { findList } from '../answer/list';
import { EMAILS, first, propertiesOf } from '../answer/records';
import { readCredential } from '../request/credential';
import type { Operation } from '../request/operation';
import { send } from '../request/send';

/** What a picker offers. */
export interface Source {
	/** The operation that lists the records. */
	operation: Operation;
	/** @throws NodeOperationError when a record that the path names is not picked yet */
	readPath?(): Record<string, string>;
	/** What the records are called, such as "users". */
	records: string;
	/** What to do when the service has none. */
	ifNone: string;
	/** Properties that may hold a record's ID, in lower case: see {@link propertiesOf}. */
	ids: string[];
}

/** What was typed into the list's search box, and the token of the page to add to the list. */
export interface Query {
	filter?: string;
	paginationToken?: unknown;
}

/** Properties that may name a record. */
const NAMES = ['name', 'fullname', 'displayname', 'title'];
const GIVEN_NAMES = ['firstname', 'lastname'];

/** Milliseconds that a person waits for a list. */
const TIMEOUT = 20_000;

/** Results that n8n adds to its list at a time, as it draws each of them. */
const PAGE_SIZE = 100;

/**
 * Requests a list, and offers those of its records that have an ID and match what was typed. The
 * specification shows no paging (§4.2), so the list is requested whole for each page.
 * @throws NodeApiError with the reason why there is nothing to pick from
 */
export async function pick(
	context: ILoadOptionsFunctions,
	source: Source,
	{ filter = '', paginationToken }: Query,
): Promise<INodeListSearchResult> {
	let options: Option[];
	try {
		options = await findOptions(context, source);
	} catch (error) {
		throw toDropdownError(context.getNode(), error);
	}
	const wanted = filter.trim().toLowerCase();
	const matching = options.filter(({ name, value }) =>
		`${name} ${value}`.toLowerCase().includes(wanted),
	);
	const start = Number(paginationToken ?? 0);
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

async function findOptions(
	context: ILoadOptionsFunctions,
	{ operation, readPath, records, ifNone, ids }: Source,
): Promise<Option[]> {
	const path = readPath?.();
	const credential = await readCredential(context);
	const signal = AbortSignal.timeout(TIMEOUT);
	const http = { timeout: TIMEOUT };
	const received = await send(context, credential, operation, { path }, http, signal);
	const answer = await readBody(received, credential.secrets, signal);
	const elements = findList(answer, { path: '', name: records, advice: ENTER_ID });
	if (elements.length === 0) throw new Failure(`The service returned no ${records}`, ifNone);
	const options = elements.flatMap((element) => toOption(element, ids));
	if (options.length === 0) throw withoutIds(records, ids, elements);
	return options;
}

const ENTER_ID = 'Switch this field to By ID, and enter the ID.';

function toOption(element: unknown, ids: string[]): Option[] {
	const record = propertiesOf(element);
	const value = first(record, ids);
	if (value === undefined) return [];
	const given = GIVEN_NAMES.map((name) => first(record, [name])).filter(Boolean);
	const label = [first(record, NAMES) ?? given.join(' '), first(record, EMAILS)].filter(Boolean);
	return [{ name: label.join(' · ') || value, value }];
}

function withoutIds(records: string, ids: string[], [element]: unknown[]): Failure {
	const names = Object.keys(isObject(element) ? element : {}).join(', ') || 'none';
	return new Failure(
		`The ${records} that the service returned have no ID to pick them by`,
		`None of the properties ${ids.join(', ')} is in them. The first one's properties: ${names}. ${ENTER_ID}`,
	);
}

/**
 * The failure as n8n's editor shows it in the list: of a NodeApiError its status, message and
 * description, of any other error the message alone (`sendErrorResponse` of n8n/src/response-helper.ts
 * and ResourceLocator.vue of n8n's editor).
 */
function toDropdownError(node: INode, cause: unknown): NodeApiError {
	const { message, description } = cause as NodeOperationError;
	const failure = cause instanceof Failure ? cause : new Failure(message, description ?? '');
	const error = toNodeApiError(node, failure, 0);
	// The editor takes the message apart at its hyphens, which a code such as connect-01 has.
	error.message = error.message.replaceAll('-', '\u2011');
	// Nor does it help to read "200" before an error, or "none".
	if (!failure.httpStatus || failure.httpStatus < 400) error.httpCode = null;
	return error;
}
