import { exactString } from '../../shared/json';
import { valuesNamed } from '../../shared/names';
import { HIDDEN } from '../../shared/secrets';
import { idNames } from './names';

/** Returns the strings and exact numbers that a record has under these names. */
export function stringsNamed(record: unknown, names: readonly string[]): string[] {
	return valuesNamed(record, names).flatMap((value) => exactString(value)?.trim() || []);
}

/**
 * Returns the ID of a record in this list, such as `users`.
 * @returns undefined if the record has none, or several, or one that is neither a string nor an exact number, or held a secret
 */
export function idOf(record: unknown, list: string): string | undefined {
	const values = valuesNamed(record, idNames(list)).filter((id) => id !== null && id !== '');
	const ids = stringsNamed(record, idNames(list)).filter((id) => !id.includes(HIDDEN));
	if (ids.length !== values.length) return undefined;
	const [id, ...others] = new Set(ids);
	return others.length === 0 ? id : undefined;
}
