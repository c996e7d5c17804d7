import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';

import { getAll } from '../resources/user/getAll';
import { pick } from './pick';

/** The picker of users, filtered by what was typed. */
export async function searchUsers(
	this: ILoadOptionsFunctions,
	filter?: string,
): Promise<INodeListSearchResult> {
	return await pick(this, getAll, {}, filter);
}
