import { requestAnswer } from '../http/answer';
import type { Credential } from '../http/credential';
import { Failure } from '../../shared/failure';
import { toSegment } from '../../shared/path';
import type { HttpRequest, Sender } from '../http/send';
import { readList } from './pages';
import { EMAILS, folded, idNames, idOf, propertiesOf, textsIn } from '../output/records';
import type { UserByEmail } from './call';

/** What the list of users says of e-mail addresses, in the form of {@link folded}. */
interface Directory {
	users: number;
	/** IDs of the users with an address; '' for one without a clear ID. */
	ids: Map<string, Set<string>>;
}

/**
 * Finds users by their e-mail addresses, in the places where the picker finds these. The service has no
 * operation for that, so the list of users is read, once for all items of a run that share it.
 */
export class Users {
	private readonly directories = new Map<string, Promise<Directory>>();

	/** @param hint tells the user how the list ended */
	constructor(
		private readonly sender: Sender,
		private readonly hint: (message: string) => void,
	) {}

	/**
	 * @param credential of the account whose users are meant
	 * @param request how the list is requested: items with other settings read it again
	 * @returns the user's ID, percent-encoded
	 * @throws Failure; what the item asks for was not sent then
	 */
	async idOf(
		user: UserByEmail,
		credential: Credential,
		request: Pick<HttpRequest, 'retries' | 'http'>,
	): Promise<string> {
		const { email, itemsPath, pagination } = user;
		const key = JSON.stringify([credential.decrypted.data, itemsPath, pagination, request]);
		let directory = this.directories.get(key);
		if (!directory) {
			directory = this.read(user, credential, request).catch((error: unknown) => {
				throw error instanceof Failure ? unreadable(error) : error;
			});
			this.directories.set(key, directory);
		}
		return onlyId(await directory, folded(email));
	}

	private async read(
		{ itemsPath, pagination }: UserByEmail,
		credential: Credential,
		request: Pick<HttpRequest, 'retries' | 'http'>,
	): Promise<Directory> {
		const settings = {
			path: itemsPath,
			name: 'users',
			onlyByName: true,
			advice: SET_USERS_PATH,
			limit: Infinity,
			simplify: true,
			option: 'the option Users Pagination',
		};
		const { elements, hint } = await readList(pagination, settings, async (query) => {
			return await requestAnswer(this.sender, credential, { ...LIST, query, ...request });
		});
		if (hint) this.hint(hint);
		return directoryOf(elements);
	}
}

function directoryOf(elements: unknown[]): Directory {
	const ids: Directory['ids'] = new Map();
	for (const element of elements) {
		const record = propertiesOf(element);
		const id = idOf(record, 'users') ?? '';
		for (const email of textsIn(record, EMAILS).map(folded)) {
			ids.set(email, (ids.get(email) ?? new Set()).add(id));
		}
	}
	return { users: elements.length, ids };
}

/** The list of users (partner API specification, §4.2). */
const LIST = { method: 'GET', path: '/users', write: false, file: false } as const;

function onlyId({ users, ids }: Directory, email: string): string {
	const found = [...(ids.get(email) ?? [])];
	if (found.length === 0) throw notFound('user.notFound', { users, emails: ids.size });
	if (found.length > 1) {
		const listed = found
			.map((id) => id || '(none)')
			.slice(0, 10)
			.join(', ');
		throw notFound('user.several', { count: found.length, ids: listed });
	}
	const id = found[0] && toSegment(found[0]);
	if (id) return id;
	throw notFound('user.withoutId', { properties: idNames('users').join(', ') });
}

function notFound(
	id: 'user.notFound' | 'user.several' | 'user.withoutId',
	values: Record<string, string | number>,
): Failure {
	return new Failure(id, values, { mayHaveHappened: false });
}

function unreadable({ message, description, facts }: Failure): Failure {
	return new Failure(
		'user.listUnreadable',
		{ reason: message, advice: description },
		{ ...facts, mayHaveHappened: false, onHold: false },
	);
}

const SET_USERS_PATH =
	'Set Users Path in Options to the place of the list, such as data.users. User → Get Many shows the answer whole, with Simplify off.';
