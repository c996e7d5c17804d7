import { isObject } from './json';

/** Normalizes a name for comparison: `first_name`, `first-name` and `FirstName` are equal. */
export function normalizeName(name: string): string {
	return name.replace(/[_-]/g, '').toLowerCase();
}

/** Returns the values of the properties with one of these names, in the order of the names. */
export function valuesNamed(value: unknown, names: readonly string[]): unknown[] {
	if (!isObject(value)) return [];
	const found = Object.keys(value).filter((property) => names.includes(normalizeName(property)));
	return names.flatMap((name) =>
		found.filter((property) => normalizeName(property) === name).map((property) => value[property]),
	);
}

/**
 * Returns the first property names of a value for an error, shortened: a service may send long
 * ones.
 */
export function shownNames(value: unknown): string {
	const names = isObject(value) ? Object.keys(value) : [];
	const shown = names.slice(0, 20).map((name) => name.slice(0, 64));
	return shown.join(', ') || 'none';
}
