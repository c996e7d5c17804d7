import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';

import type { Records } from './pick';

type Picker = (
	this: ILoadOptionsFunctions,
	filter?: string,
	paginationToken?: unknown,
) => Promise<INodeListSearchResult>;

/** What serves a picker is loaded by its first use, so that n8n, which loads each node, starts sooner. */
function picker(records: Records): Picker {
	return async function (filter, paginationToken) {
		const { pick } = await import('./pick');
		return await pick(this, records, filter, paginationToken);
	};
}

export const searchUsers = picker('users');

/** Those of the user in `listUserId`, as the service lists no others. */
export const searchResumes = picker('resumes');
