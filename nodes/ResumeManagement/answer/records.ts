import { exactText, isObject } from './json';

/** What a record tells of itself: the specification shows no field of one, so what is there is used. */

/** Properties that may hold a user's ID, in the form of {@link texts}. */
export const USER_IDS = ['id', '_id', 'userid', 'uuid'];

/** Properties that may hold an e-mail address. */
export const EMAILS = ['email', 'emailaddress'];

/** A record's texts and exact numbers by their property's name, with `first_name` as `firstname`. */
export function texts(element: unknown): Map<string, string> {
	const entries = Object.entries(isObject(element) ? element : {}).flatMap(
		([name, value]): Array<[string, string]> => {
			const text = exactText(value)?.trim();
			return text ? [[name.replace(/(?<=.)[_-]/g, '').toLowerCase(), text]] : [];
		},
	);
	return new Map(entries);
}

/** The first of the properties that the record has. */
export function first(record: Map<string, string>, names: string[]): string | undefined {
	return names.map((name) => record.get(name)).find((text) => text !== undefined);
}
