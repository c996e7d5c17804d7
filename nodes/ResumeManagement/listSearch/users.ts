import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';

import { getAll } from '../resources/user/getAll';
import { pick } from './pick';

/** The picker of users. */
export async function searchUsers(
	this: ILoadOptionsFunctions,
	filter?: string,
	paginationToken?: unknown,
): Promise<INodeListSearchResult> {
	const users = {
		operation: getAll,
		records: 'users',
		ifNone: "Check that the credential's Private Key belongs to the account that has the users.",
		ids: ['id', '_id', 'userid', 'uuid'],
	};
	return await pick(this, users, { filter, paginationToken });
}
