import type { IDataObject, ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';

import { readCredential } from '../request/credential';
import { toNodeApiError, withoutSecrets } from '../request/failure';
import { judge } from '../request/judge';
import type { Operation } from '../request/operation';
import { send } from '../request/send';
import { findList } from '../request/shape';

/** Properties that may name a record. The specification shows none, so each is used where it is there. */
const NAMES = ['name', 'fullName', 'title', 'email'];
const IDS = ['id', '_id', 'userId', 'userID', 'resumeId', 'resumeID', 'uuid'];

/** Milliseconds that a person waits for a list. */
const TIMEOUT = 20_000;

/** Requests a list and offers those of its records that have an ID, filtered by name and ID. */
export async function pick(
	context: ILoadOptionsFunctions,
	operation: Operation,
	path: Record<string, string>,
	filter = '',
): Promise<INodeListSearchResult> {
	const credential = await readCredential(context);
	const sent = await send(context, credential, operation, { path }, { timeout: TIMEOUT });
	const verdict = 'answer' in sent ? judge(sent.answer, operation) : sent;
	const found = 'body' in verdict ? findList(verdict.body, '') : verdict;
	if ('failure' in found) {
		const failure = withoutSecrets(found.failure, credential.secrets);
		throw toNodeApiError(context.getNode(), failure, 0);
	}
	const results = (found.elements as IDataObject[]).flatMap((element) => {
		const value = first(element, IDS);
		if (value === undefined) return [];
		const name = [first(element, NAMES), element.email].filter(
			(part, index, all) => part && all.indexOf(part) === index,
		);
		return [{ name: name.join(' · ') || value, value }];
	});
	const wanted = filter.toLowerCase();
	return {
		results: results.filter(({ name, value }) => `${name} ${value}`.toLowerCase().includes(wanted)),
	};
}

function first(element: IDataObject, names: string[]): string | undefined {
	const name = names.find((candidate) =>
		['string', 'number'].includes(typeof element?.[candidate]),
	);
	return name === undefined ? undefined : String(element[name]);
}
