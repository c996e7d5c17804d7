import type { IDataObject } from 'n8n-workflow';

import { Failure } from '../answer/failure';
import { findList, type List } from '../answer/list';
import { readPages } from '../answer/pages';
import { EMAILS, first, propertiesOf, textsIn, USER_IDS } from '../answer/records';
import type { Credential } from './credential';
import { bodyOf, type Exchange } from './exchange';
import type { UserByEmail } from './operation';
import { toSegment } from './path';

/** What the list of users says of e-mail addresses, in the form of {@link folded}. */
interface Directory {
	users: number;
	/** IDs of the users with an address; '' for one without an ID. */
	ids: Map<string, Set<string>>;
}

/**
 * Finds users by their e-mail addresses, in the places where the picker finds these. The service has no
 * operation for that, so the list of users is read, once for all items that share it.
 */
export class Users {
	private readonly directories = new Map<string, Promise<Directory>>();

	/**
	 * @param credential of the account whose users are meant
	 * @param exchange sends the reads of the list
	 * @param hint tells the user how the list ended
	 * @returns the user's ID, percent-encoded
	 * @throws Failure; what the item asks for was not sent then
	 */
	async idOf(
		{ email, list }: UserByEmail,
		credential: Credential,
		exchange: Exchange,
		hint: (message: string) => void,
	): Promise<string> {
		const { itemsPath, pagination } = list;
		const key = JSON.stringify([credential.decrypted.data, itemsPath, pagination]);
		let directory = this.directories.get(key);
		if (!directory) {
			directory = readDirectory(list, exchange, hint).catch((error: unknown) => {
				throw error instanceof Failure ? unreadable(error) : error;
			});
			this.directories.set(key, directory);
		}
		return onlyId(await directory, folded(email));
	}
}

async function readDirectory(
	{ operation, itemsPath, pagination }: UserByEmail['list'],
	exchange: Exchange,
	hint: (message: string) => void,
): Promise<Directory> {
	const place = { path: itemsPath, name: 'users', onlyByName: true, advice: SET_USERS_PATH };
	const request = async (query: IDataObject) => await exchange({ query }, bodyOf(operation));
	const list: Omit<List, 'answers'> = pagination
		? await readPages(pagination, { ...place, limit: Infinity }, request)
		: { elements: findList(await request({}), place) };
	if (list.hint) hint(list.hint);
	const ids: Directory['ids'] = new Map();
	for (const element of list.elements) {
		const record = propertiesOf(element);
		const id = first(record, USER_IDS) ?? '';
		for (const email of textsIn(record, EMAILS).map(folded)) {
			ids.set(email, (ids.get(email) ?? new Set()).add(id));
		}
	}
	return { users: list.elements.length, ids };
}

/** Without the case of A to Z alone: other letters, such as the Kelvin sign, would become those of another address. */
function folded(email: string): string {
	return email.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function onlyId({ users, ids }: Directory, email: string): string {
	const found = [...(ids.get(email) ?? [])];
	if (found.length === 0) {
		throw notFound(
			'No user has this e-mail address',
			`The list holds ${users} users and ${ids.size} e-mail addresses. Check the address, or add Users Pagination in Options where the list comes in pages.`,
		);
	}
	if (found.length > 1) {
		throw notFound(
			'Several users have this e-mail address',
			`The list holds ${found.length} of them, with the IDs ${found.slice(0, 10).join(', ')}. Switch User to By ID, and enter the one that is meant.`,
		);
	}
	const id = found[0] && toSegment(found[0]);
	if (id) return id;
	throw notFound(
		'The user with this e-mail address has no ID in the list',
		`None of the properties ${USER_IDS.join(', ')} holds one that can be sent. Switch User to By ID, and enter it.`,
	);
}

function notFound(message: string, description: string): Failure {
	const advice = `${description} Nothing but the list was requested for this item.`;
	return new Failure(message, advice, { mayHaveHappened: false });
}

function unreadable(failure: Failure): Failure {
	const message = `The list of users could not be read: ${failure.message}`;
	return failure.with({ message, mayHaveHappened: false, held: false });
}

const SET_USERS_PATH =
	'Set Users Path in Options to the place of the list, such as data.users. User → Get Many shows the answer whole, with Simplify off.';

/**
 * For n8n's own loop, which enters with one item at a time and the same execution data for all of
 * them: they share the list until one of them comes again, by Retry On Fail.
 */
export function usersOfRun(executeData: object, itemIndex: number): Users {
	let run = runs.get(executeData);
	if (!run || run.asked.has(itemIndex)) {
		runs.set(executeData, (run = { users: new Users(), asked: new Set() }));
	}
	run.asked.add(itemIndex);
	return run.users;
}

const runs = new WeakMap<object, { users: Users; asked: Set<number> }>();
