import { exactString, valuesNamed } from '../../shared/json';
import { HIDDEN } from '../../shared/secrets';
import { idNames } from './names';

/** Returns the strings and exact numbers that a record has under these names. */
export function stringsNamed(record: unknown, names: readonly string[]): string[] {
	const texts = valuesNamed(record, names).map((value) => exactString(value)?.trim() ?? '');
	return texts.filter((text) => text !== '');
}

/**
 * Returns the ID of a record in this list, such as `users`.
 * @returns undefined if the record has none, or several, or one that is neither a string nor an
 *   exact number, or held a secret
 */
export function idOf(record: unknown, list: string): string | undefined {
	const values = valuesNamed(record, idNames(list)).filter((id) => id !== null && id !== '');
	const ids = [...new Set(values.map((value) => exactString(value)?.trim() ?? ''))];
	const id = ids.length === 1 ? ids[0]! : '';
	return id === '' || id.includes(HIDDEN) ? undefined : id;
}
