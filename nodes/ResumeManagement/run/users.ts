import { Failure } from '../../shared/failure';
import { EMAIL, idNames } from '../../shared/names';
import { normalizeEmail } from '../../shared/parameters';
import { toSegment } from '../../shared/path';
import type { HttpRequest, Sender } from '../http/send';
import { idOf, stringsNamed } from '../output/lists';
import { type ListSettings, requestList } from './list';

/** A user to look up by email address, and settings for reading the list of users. */
export interface UserByEmail extends Pick<ListSettings, 'path' | 'pagination'> {
	email: string;
}

/** Index of the users of an account by email address. */
interface Directory {
	userCount: number;
	/** For each email address, the IDs of its users; undefined for a user without a clear ID. */
	ids: Map<string, Set<string | undefined>>;
}

/** Settings of the item for each of its requests. */
type RequestSettings = Pick<HttpRequest, 'credential' | 'retries' | 'http'>;

/** Settings for reading the list of users. Only a list of this name counts: another could lead to another person. */
const LIST = {
	name: 'users',
	onlyByName: true,
	needsList: true,
	limit: Infinity,
	labels: { path: 'Users Path', pagination: 'Users Pagination' },
};

/** Finds users by their email addresses. The service has no operation for that, so the list of users is read. */
export class Users {
	/** Directories by all settings that the list depends on, so that the items of `runItems` read each list once. */
	private readonly directories = new Map<string, Promise<Directory>>();

	constructor(
		private readonly sender: Sender,
		private readonly hint: (message: string) => void,
	) {}

	/** @returns the user's ID, percent-encoded @throws Failure; only the list was requested then */
	async findId(user: UserByEmail, settings: RequestSettings): Promise<string> {
		const { email, path, pagination } = user;
		const { credential, retries, http } = settings;
		const key = JSON.stringify([credential.decrypted.data, path, pagination, retries, http]);
		const directory = this.directories.get(key) ?? this.readDirectory(user, settings);
		this.directories.set(key, directory);
		return onlyId(await directory, normalizeEmail(email));
	}

	private async readDirectory(
		{ path, pagination }: UserByEmail,
		requestSettings: RequestSettings,
	): Promise<Directory> {
		// The specification's §4.2.
		const request = { method: 'GET', path: '/users', ...requestSettings } as const;
		const settings = { ...LIST, path, pagination };
		try {
			const { records, hint } = await requestList(this.sender, request, settings);
			if (hint) this.hint(hint);
			return directoryOf(records);
		} catch (error) {
			throw error instanceof Failure ? listFailure(error) : error;
		}
	}
}

function directoryOf(users: unknown[]): Directory {
	const ids: Directory['ids'] = new Map();
	for (const user of users) {
		const id = idOf(user, LIST.name);
		for (const email of stringsNamed(user, EMAIL).map(normalizeEmail)) {
			ids.set(email, (ids.get(email) ?? new Set()).add(id));
		}
	}
	return { userCount: users.length, ids };
}

function onlyId({ userCount, ids }: Directory, email: string): string {
	const found = [...(ids.get(email) ?? [])];
	if (found.length === 0) {
		throw new Failure('user.notFound', { users: userCount, emails: ids.size });
	}
	if (found.length > 1) {
		const shown = found.slice(0, 10).map((id) => id?.slice(0, 64) ?? '(none)');
		throw new Failure('user.several', { count: found.length, ids: shown.join(', ') });
	}
	const segment = found[0] && toSegment(found[0]);
	if (segment) return segment;
	throw new Failure('user.withoutId', { properties: idNames(LIST.name).join(', ') });
}

/** Returns a failure of reading the list as the item's, without `transient` and `retryAfter`: the list was already retried. */
function listFailure({ message, advice, facts }: Failure): Failure {
	const { code, httpStatus, details } = facts;
	const own = { code, httpStatus, details };
	return new Failure('user.listUnreadable', { reason: message, advice }, own);
}
