import { exactText, isObject } from '../../shared/json';
import { plainName } from '../../shared/names';
import { HIDDEN } from '../../shared/secrets';

/** The properties of a user or a resume. The specification shows none (§4.2), so the usual names are tried. */

/** Properties that may hold an e-mail address. */
export const EMAILS = ['email', 'emailaddress'];

/**
 * An e-mail address in the form that addresses are compared in: without the case of A to Z alone, as other
 * letters, such as the Kelvin sign, would become those of another address.
 */
export function folded(email: string): string {
	return email.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** A record's values by the name of their property, which may be spelled in several ways. */
export type Properties = Map<string, unknown[]>;

/** The properties that are not empty, by their `plainName`. */
export function propertiesOf(element: unknown): Properties {
	const properties: Properties = new Map();
	for (const [name, value] of Object.entries(isObject(element) ? element : {})) {
		if (value === null || (typeof value === 'string' && value.trim() === '')) continue;
		const plain = plainName(name);
		const values = properties.get(plain);
		if (values) values.push(value);
		else properties.set(plain, [value]);
	}
	return properties;
}

/**
 * What the first of these properties holds that the record has. Undefined where it is neither a text nor
 * an exact number, or has two values: another property would be about something else.
 */
export function first(properties: Properties, names: string[]): string | undefined {
	const values = names.map((name) => properties.get(name)).find((given) => given !== undefined);
	const texts = new Set(values?.map((value) => exactText(value)?.trim()));
	return texts.size === 1 ? [...texts][0] : undefined;
}

/** All texts in these properties. */
export function textsIn(properties: Properties, names: string[]): string[] {
	const values = names.flatMap((name) => properties.get(name) ?? []);
	return values.filter((value) => typeof value === 'string').map((text) => text.trim());
}

/** Properties that may hold the ID of a record in this list, such as `users`; the last one where no other does. */
export function idNames(list: string): string[] {
	return ['id', '_id', `${list.slice(0, -1)}id`, 'uuid'];
}

/** The ID of a record in this list; undefined where none is clear, as with `{ id: 7, user_id: 42 }`. */
export function idOf(record: Properties, list: string): string | undefined {
	const ids = idsIn(record, list);
	return ids.length === 1 ? ids[0] : undefined;
}

/**
 * What tells an element apart from the others in this list, however often it is sent: all its IDs, also
 * where none of them is clearly its own. Undefined where it has none.
 */
export function identityOf(element: unknown, list: string): string | undefined {
	const ids = idsIn(propertiesOf(element), list);
	return ids.length > 0 ? JSON.stringify(ids) : undefined;
}

/**
 * The different IDs that a record has; none where one of them is neither a text nor an exact number, or held
 * a secret, which has been hidden.
 */
function idsIn(record: Properties, list: string): string[] {
	const names = idNames(list);
	const named = names.slice(0, -1).flatMap((name) => record.get(name) ?? []);
	const values = named.length > 0 ? named : (record.get(names.at(-1)!) ?? []);
	const texts = values
		.map((value) => exactText(value)?.trim())
		.filter((text): text is string => text?.includes(HIDDEN) === false);
	return texts.length === values.length ? [...new Set(texts)] : [];
}
