import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';

import { USER_IDS } from '../answer/records';
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
		ids: USER_IDS,
	};
	return await pick(this, users, { filter, paginationToken });
}
