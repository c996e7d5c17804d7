/** Control characters, and halves of surrogate pairs, which can't be percent-encoded. */
export const CONTROL_CHARACTERS = /[\p{Cc}\p{Cs}]/u;

/** An ID as one segment of a path, percent-encoded; undefined where it would lead to another path. */
export function toSegment(id: string): string | undefined {
	const isSafe = !leadsElsewhere(id) && !CONTROL_CHARACTERS.test(id);
	return isSafe ? encodeURIComponent(id) : undefined;
}

/**
 * A path below the Base URL as a user writes it, percent-encoded where it is not yet, and without the slash
 * at its start; undefined where it may lead to another path, also on a server that decodes it twice.
 */
export function toPath(text: string): string | undefined {
	const segments = text.replace(/^\//, '').replace(/\/$/, '').split('/');
	if (/[?#\\]/.test(text) || !segments.every(isBelow)) return undefined;
	return encodeURI(text.replace(/^\//, '')).replaceAll('%25', '%');
}

/** A percent-encoded text; undefined where it is malformed. */
export function decoded(text: string): string | undefined {
	try {
		return decodeURIComponent(text);
	} catch {
		return undefined;
	}
}

function isBelow(segment: string): boolean {
	const text = decoded(segment);
	const isTwiceEncoded = /%(25)*(2e|2f|5c)/i.test(text ?? '');
	return !!text && !leadsElsewhere(text) && !isTwiceEncoded && !CONTROL_CHARACTERS.test(text);
}

/** Whether a segment is `.` or `..`, also for servers that drop what follows a semicolon. */
function leadsElsewhere(decoded: string): boolean {
	const parts = decoded.split(/[/\\]/).map((part) => part.replace(/;.*/s, '').trim());
	return parts.some((part) => part === '.' || part === '..');
}
