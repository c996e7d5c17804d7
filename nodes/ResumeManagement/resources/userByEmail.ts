import type { INodeProperties } from 'n8n-workflow';

import { readPagination } from '../answer/pages';
import type { UserByEmail } from '../request/operation';
import type { Parameters } from '../request/parameters';
import { itemsPath, pagination } from './listFields';
import { getAll } from './user/getAll';

const byEmail = { show: { '/userId.mode': ['email'] } };

/** How to read the list of users that By Email looks in: see `readUser`. */
export const usersList: INodeProperties[] = [
	{
		...pagination,
		displayName: 'Users Pagination',
		name: 'usersPagination',
		displayOptions: byEmail,
		description:
			'Read the list of users, which By Email looks in, page by page, as your account manager described it. Without this option, one request is sent for it.',
	},
	{
		...itemsPath,
		displayName: 'Users Path',
		name: 'usersPath',
		displayOptions: byEmail,
		description:
			'Where the answer holds the list of users, which By Email looks in. Leave it empty if it is the answer itself, data, or called users.',
	},
];

/**
 * Reads the locator of a user.
 * @returns its ID, percent-encoded, or in the mode By Email how to find it
 * @throws NodeOperationError naming the field
 */
export function readUser(parameters: Parameters): string | UserByEmail {
	const user = parameters.idOrEmail('userId');
	if (typeof user === 'string') return user;
	return {
		...user,
		list: {
			operation: getAll,
			itemsPath: parameters.optionalText('options.usersPath'),
			pagination: readPagination(parameters, 'usersPagination'),
		},
	};
}
