import { Failure, type FailureId } from '../../shared/failure';
import { EMAIL, idNames } from '../../shared/names';
import { toSegment } from '../../shared/path';
import { requestJson } from '../http/response';
import type { Credential } from '../http/credential';
import type { HttpRequest, Sender } from '../http/send';
import { idOf, normalizeEmail, stringsNamed } from '../output/records';
import type { UserByEmail } from './call';
import { readList } from './pages';

/** Index of the users of an account by email address. */
interface Directory {
	userCount: number;
	/** For each email address, the IDs of its users; '' for a user without a clear ID. */
	ids: Map<string, Set<string>>;
}

/** Settings of the item for each of its requests. */
type Settings = Pick<HttpRequest, 'retries' | 'http'>;

/** Finds users by their email addresses. The service has no operation for that, so the list of users is read. */
export class Users {
	/** Directories by all settings that the list depends on, so that the items of a run read each list once. */
	private readonly directories = new Map<string, Promise<Directory>>();

	constructor(
		private readonly sender: Sender,
		private readonly hint: (message: string) => void,
	) {}

	/**
	 * @returns the user's ID, percent-encoded
	 * @throws Failure; only the list was requested then
	 */
	async findId(user: UserByEmail, credential: Credential, settings: Settings): Promise<string> {
		const { email, itemsPath, pagination } = user;
		const key = JSON.stringify([credential.decrypted.data, itemsPath, pagination, settings]);
		const directory = this.directories.get(key) ?? this.read(user, credential, settings);
		this.directories.set(key, directory);
		return onlyId(await directory, normalizeEmail(email));
	}

	private async read(
		{ itemsPath, pagination }: UserByEmail,
		credential: Credential,
		settings: Settings,
	): Promise<Directory> {
		const users = await readList(pagination, { ...LIST, path: itemsPath }, async (query) => {
			return await requestJson(this.sender, credential, { ...REQUEST, query, ...settings });
		}).catch((error: unknown) => {
			throw error instanceof Failure ? listFailure(error) : error;
		});
		if (users.hint) this.hint(users.hint);
		const ids: Directory['ids'] = new Map();
		for (const user of users.records) {
			const id = idOf(user, LIST.name) ?? '';
			for (const email of stringsNamed(user, EMAIL).map(normalizeEmail)) {
				ids.set(email, (ids.get(email) ?? new Set()).add(id));
			}
		}
		return { userCount: users.records.length, ids };
	}
}

/** The request for the list of users (§4.2). */
const REQUEST = { method: 'GET', path: '/users', write: false, file: false } as const;

/** Settings for finding the list in a response. */
const LIST = {
	name: 'users',
	onlyByName: true,
	simplify: true,
	limit: Infinity,
	option: 'the option Users Pagination',
	pathOption: 'Users Path',
};

function onlyId({ userCount, ids }: Directory, email: string): string {
	const [id, ...others] = ids.get(email) ?? [];
	if (id === undefined) throw notSent('user.notFound', { users: userCount, emails: ids.size });
	if (others.length > 0) {
		const shown = [id, ...others].slice(0, 10).map((one) => one.slice(0, 64) || '(none)');
		throw notSent('user.several', { count: others.length + 1, ids: shown.join(', ') });
	}
	const segment = id && toSegment(id);
	if (segment) return segment;
	throw notSent('user.withoutId', { properties: idNames(LIST.name).join(', ') });
}

/** Returns a failure of reading the list as the item's. The item's own request was not sent, whatever became of the list. */
function listFailure({ message, advice, facts }: Failure): Failure {
	const own = { ...facts, mayHaveHappened: false, onHold: false, retryAfter: undefined };
	return new Failure('user.listUnreadable', { reason: message, advice }, own);
}

function notSent(id: FailureId, values: Record<string, string | number>): Failure {
	return new Failure(id, values, { mayHaveHappened: false });
}
