import type {
	ILoadOptionsFunctions,
	INode,
	INodeListSearchResult,
	NodeApiError,
	NodeOperationError,
} from 'n8n-workflow';

import { readCredential } from '../request/credential';
import { type Failure, toNodeApiError, withoutSecrets } from '../request/failure';
import { isObject } from '../request/isObject';
import { judge } from '../request/judge';
import type { Operation } from '../request/operation';
import { send } from '../request/send';
import { findList } from '../request/shape';

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
	/** Properties that may hold a record's ID, in lower case: see {@link texts}. */
	ids: string[];
}

/** What was typed into the list's search box, and the token of the page to add to the list. */
export interface Query {
	filter?: string;
	paginationToken?: unknown;
}

/** Properties that may name a record: the specification shows none, so what is there is used. */
const NAMES = ['name', 'fullname', 'displayname', 'title'];
const GIVEN_NAMES = ['firstname', 'lastname'];
const EMAILS = ['email', 'emailaddress'];

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
	const found = await findOptions(context, source);
	if ('failure' in found) throw toDropdownError(context.getNode(), found.failure);
	const wanted = filter.trim().toLowerCase();
	const matching = found.options.filter(({ name, value }) =>
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
): Promise<{ options: Option[] } | { failure: Failure }> {
	try {
		const path = readPath?.();
		const credential = await readCredential(context);
		const sent = await send(context, credential, operation, { path }, { timeout: TIMEOUT });
		const verdict = 'answer' in sent ? judge(sent.answer, operation) : sent;
		if ('failure' in verdict) {
			return { failure: withoutSecrets(verdict.failure, credential.secrets) };
		}
		const list = findList(verdict.body, '');
		if ('failure' in list) return { failure: { ...list.failure, description: ENTER_ID } };
		if (list.elements.length === 0) {
			return { failure: { message: `The service returned no ${records}`, description: ifNone } };
		}
		const options = list.elements.flatMap((element) => toOption(element, ids));
		return options.length > 0 ? { options } : { failure: withoutIds(records, ids, list.elements) };
	} catch (error) {
		const { message, description } = error as NodeOperationError;
		return { failure: { message, description: description ?? '' } };
	}
}

const ENTER_ID = 'Switch this field to By ID, and enter the ID.';

function toOption(element: unknown, ids: string[]): Option[] {
	const record = texts(element);
	const first = (names: string[]) => names.map((name) => record.get(name)).find(Boolean);
	const value = first(ids);
	if (!value) return [];
	const given = GIVEN_NAMES.map((name) => record.get(name)).filter(Boolean);
	const label = [first(NAMES) ?? given.join(' '), first(EMAILS)].filter(Boolean);
	return [{ name: label.join(' · ') || value, value }];
}

/** A record's texts and numbers by their property's name, with `first_name` as `firstname`. */
function texts(element: unknown): Map<string, string> {
	const entries = Object.entries(isObject(element) ? element : {})
		.filter(([, value]) => ['string', 'number'].includes(typeof value))
		.map(([name, value]): [string, string] => [
			name.replace(/(?<=.)[_-]/g, '').toLowerCase(),
			String(value).trim(),
		]);
	return new Map(entries);
}

function withoutIds(records: string, ids: string[], [element]: unknown[]): Failure {
	const names = Object.keys(isObject(element) ? element : {}).join(', ') || 'none';
	return {
		message: `The ${records} that the service returned have no ID to pick them by`,
		description: `None of the properties ${ids.join(', ')} is in them. The first one's properties: ${names}. ${ENTER_ID}`,
	};
}

/**
 * The failure as n8n's editor shows it in the list: of a NodeApiError its status, message and
 * description, of any other error the message alone (`sendErrorResponse` of n8n/src/response-helper.ts
 * and ResourceLocator.vue of n8n's editor).
 */
function toDropdownError(node: INode, failure: Failure): NodeApiError {
	const error = toNodeApiError(node, failure, 0);
	// The editor takes the message apart at its hyphens, which a code such as connect-01 has.
	error.message = error.message.replaceAll('-', '\u2011');
	// Nor does it help to read "200" before an error, or "none".
	if (!failure.httpStatus || failure.httpStatus < 400) error.httpCode = null;
	return error;
}
