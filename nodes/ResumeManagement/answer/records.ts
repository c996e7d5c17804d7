import { exactText, isObject } from './json';

/** What a record tells of itself: the specification shows no field of one, so what is there is used. */

/** Properties that may hold a user's ID, in the form of {@link propertiesOf}. */
export const USER_IDS = ['id', '_id', 'userid', 'uuid'];

/** Properties that may hold an e-mail address. */
export const EMAILS = ['email', 'emailaddress'];

/** A record's values by the name of their property, which may be spelled in several ways. */
export type Properties = Map<string, unknown[]>;

/** The properties that are not empty, with `first_name` as `firstname`. */
export function propertiesOf(element: unknown): Properties {
	const properties: Properties = new Map();
	for (const [name, value] of Object.entries(isObject(element) ? element : {})) {
		if (value === null || (typeof value === 'string' && value.trim() === '')) continue;
		const plain = name.replace(/(?<=.)[_-]/g, '').toLowerCase();
		properties.set(plain, [...(properties.get(plain) ?? []), value]);
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
