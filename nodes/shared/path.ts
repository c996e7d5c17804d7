/** Control characters, and halves of surrogate pairs, which can't be percent-encoded. */
export const CONTROL_CHARACTERS = /[\p{Cc}\p{Cs}]/u;

/** Returns an ID as one percent-encoded segment of a path; undefined if it would lead to another path. */
export function toSegment(id: string): string | undefined {
	return isSegment(id) ? encodeURIComponent(id) : undefined;
}

/**
 * Returns a path below the Base URL as a user writes it, percent-encoded if it is not yet, and without the slash
 * at its start; undefined if it may lead to another path.
 */
export function toPath(text: string): string | undefined {
	const path = text.replace(/^\//, '');
	const segments = path.replace(/\/$/, '').split('/').map(decoded);
	// Servers may decode a slash, and URL parsers read `%2e` as a dot (WHATWG's URL Standard).
	const isBelow = segments.every(
		(one) => one && one.split(/[/\\]/).every(isSegment) && !/%2e/i.test(one),
	);
	// `encodeURI` encodes the percent signs of existing escapes once more.
	return isBelow && !/[?#\\]/.test(text) ? encodeURI(path).replaceAll('%25', '%') : undefined;
}

/** Decodes a percent-encoded text; undefined if it is malformed. */
export function decoded(text: string): string | undefined {
	try {
		return decodeURIComponent(text);
	} catch {
		return undefined;
	}
}

/** Refuses `.` and `..`, also before a semicolon: some servers remove it and the text after it. */
function isSegment(text: string): boolean {
	return !/^\s*\.{1,2}\s*(;|$)/.test(text) && !CONTROL_CHARACTERS.test(text);
}
