/**
 * Characters that nobody sees: control and format characters, halves of surrogate pairs, separators but the plain space, and what
 * Unicode leaves out of a display.
 */
const INVISIBLE = String.raw`(?! )[\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]`;

const AT_ENDS = new RegExp(`^(?:\\s|${INVISIBLE})+|(?:\\s|${INVISIBLE})+$`, 'gu');

const WITHIN = new RegExp(INVISIBLE, 'u');

/** Removes blanks and invisible characters around a text. */
export function trimInvisible(text: string): string {
	return text.replace(AT_ENDS, '');
}

/** Returns the code point of the first invisible character, such as `U+200B`, and the text before it. */
export function findInvisible(text: string): { code: string; before: string } | undefined {
	const found = WITHIN.exec(text);
	if (!found) return undefined;
	const code = found[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
	return { code: `U+${code}`, before: text.slice(0, found.index) };
}

/** Normalizes an email address for comparison. Lower-cases only A–Z: Unicode folding could match another address. */
export function normalizeEmail(email: string): string {
	return trimInvisible(email)
		.normalize('NFC')
		.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** What may surround or spoil an address, and how an error calls it. */
const NO_PART_OF_AN_EMAIL: Array<[pattern: RegExp, name: string]> = [
	[/^mailto:/i, '"mailto:"'],
	[/[<>]/, 'the brackets < and >'],
	[/[[\]()]/, 'the brackets'],
	[/["“”„«»]/, 'the quotation marks'],
	[/[,;:\\]/, 'the comma, semicolon, colon or backslash'],
	[/\.\.|^\.|\.@|@\.|\.$/, 'the extra dot'],
	[/^[•=]/, 'what stands before the address'],
	[/@[^@]*[^@\p{L}\p{N}\p{M}.-]/u, 'what is no part of the domain'],
];

/** Returns what has to be removed from a text with one `@`, so that it is only an address; undefined if nothing has to. */
export function excessOfEmail(text: string): string | undefined {
	return NO_PART_OF_AN_EMAIL.find(([pattern]) => pattern.test(text))?.[1];
}

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
	return !/^\s*\.{1,2}\s*(;|$)/.test(text) && findInvisible(text) === undefined;
}
