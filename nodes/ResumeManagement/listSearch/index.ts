import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';

import type { PickerList } from './pick';

type Picker = (
	this: ILoadOptionsFunctions,
	filter?: string,
	paginationToken?: unknown,
) => Promise<INodeListSearchResult>;

/** Loads the code of a picker when it is first used: n8n, which loads each node, starts sooner. */
function picker(list: PickerList): Picker {
	return async function (filter, paginationToken) {
		const { pick } = await import('./pick');
		return await pick(this, list, filter, paginationToken);
	};
}

export const searchUsers = picker('users');

/** Searches the resumes of the user in `listUserId`. */
export const searchResumes = picker('resumes');
