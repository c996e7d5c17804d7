import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';

import type { PickerList } from './pick';

/** Loads the code of a picker when it is first used: n8n, which loads each node, starts sooner. */
function picker(list: PickerList) {
	return async function (
		this: ILoadOptionsFunctions,
		filter?: string,
		paginationToken?: unknown,
	): Promise<INodeListSearchResult> {
		const { pick } = await import('./pick');
		return await pick(this, list, filter, paginationToken);
	};
}

export const searchUsers = picker('users');
export const searchResumes = picker('resumes');
