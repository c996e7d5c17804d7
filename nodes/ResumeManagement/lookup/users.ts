import { Failure } from '../../shared/failure';
import { normalizeEmail, toSegment } from '../../shared/text';
import type { HttpContext, HttpRequest } from '../http/send';
import { idOf, stringsNamed } from '../responses/ids';
import { EMAIL, idNames } from '../responses/names';
import { type ListSettings, requestList } from '../responses/list';

/** A user to look up by email address, and settings for reading the list of users. */
export interface UserByEmail extends Pick<ListSettings, 'path' | 'pagination'> {
	email: string;
}

/** The users of an account by email address. */
interface Directory {
	userCount: number;
	/** For each email address, the IDs of its users; '' for a user without a clear ID. */
	ids: Map<string, Set<string>>;
}

/** Settings of the item, for the request of the list. */
type ItemSettings = Pick<HttpRequest, 'credential' | 'retries' | 'settings'>;

/**
 * Finds users by their email addresses. The service has no operation for that, so the list of users
 * is read.
 */
export class Users {
	/**
	 * Directories by account and place of the list, so that the items of a run read each list once,
	 * with the settings of the first one. A list that can't be read fails them all: with its retries,
	 * another read for each item would take very long.
	 */
	private readonly directories = new Map<string, Promise<Directory>>();

	constructor(private readonly context: HttpContext) {}

	/** @returns the user's ID, percent-encoded @throws Failure; only the list was requested then */
	async findId(user: UserByEmail, item: ItemSettings): Promise<string> {
		const { email, path, pagination } = user;
		const { baseUrl, account } = item.credential;
		const key = JSON.stringify([baseUrl, account, path, pagination]);
		const directory = this.directories.get(key) ?? this.readDirectory(user, item);
		this.directories.set(key, directory);
		return onlyId(await directory, normalizeEmail(email));
	}

	private async readDirectory(
		{ path, pagination }: UserByEmail,
		{ credential, retries, settings }: ItemSettings,
	): Promise<Directory> {
		// The specification's §4.2.
		const request = { method: 'GET', path: '/users', credential, retries, settings } as const;
		const list = {
			name: 'users',
			path,
			pathOption: 'Users Path',
			pagination,
			paginationOption: 'Users Pagination',
			// A list of another name could lead to another person.
			onlyByName: true,
			needsList: true,
			limit: Infinity,
		};
		try {
			const { records } = await requestList(this.context, request, list);
			return directoryOf(records);
		} catch (error) {
			throw error instanceof Failure ? listUnreadable(error) : error;
		}
	}
}

/**
 * Returns the failure of an item whose list could not be read, with the reason and the advice of
 * that request.
 */
function listUnreadable({ message: reason, advice, facts }: Failure): Failure {
	const { code, httpStatus, details } = facts;
	return new Failure('user.listUnreadable', { reason, advice }, { code, httpStatus, details });
}

function directoryOf(users: unknown[]): Directory {
	const ids: Directory['ids'] = new Map();
	for (const user of users) {
		const id = idOf(user, 'users') ?? '';
		for (const email of stringsNamed(user, EMAIL).map(normalizeEmail)) {
			ids.set(email, (ids.get(email) ?? new Set()).add(id));
		}
	}
	return { userCount: users.length, ids };
}

function onlyId({ userCount, ids }: Directory, email: string): string {
	const [id, ...others] = ids.get(email) ?? [];
	if (id === undefined) {
		throw new Failure('user.notFound', { users: userCount, emails: ids.size });
	}
	if (others.length > 0) {
		const shown = [id, ...others].map((one) => one || '(none)').join(', ');
		throw new Failure('user.several', { count: others.length + 1, ids: shown });
	}
	const segment = toSegment(id);
	if (segment !== undefined) return segment;
	throw new Failure('user.withoutId', { properties: idNames('users').join(', ') });
}
