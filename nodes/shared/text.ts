/**
 * Characters that nobody sees: blanks, control and format characters, halves of surrogate pairs, and others that Unicode does
 * not display.
 */
const UNSEEN = String.raw`[\p{Z}\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]`;

const UNSEEN_AT_ENDS = new RegExp(`^${UNSEEN}+|${UNSEEN}+$`, 'gu');

const EACH_UNSEEN = new RegExp(UNSEEN, 'gu');

/** Removes blanks and invisible characters around a text. */
export function trimInvisible(text: string): string {
	return text.replace(UNSEEN_AT_ENDS, '');
}

/** Returns the code point of the first invisible character, such as `U+200B`, and the text before it. */
export function findInvisible(text: string): { code: string; before: string } | undefined {
	for (const { 0: character, index } of text.matchAll(EACH_UNSEEN)) {
		// A space between words is no surprise.
		if (character === ' ') continue;
		const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
		return { code: `U+${code}`, before: text.slice(0, index) };
	}
	return undefined;
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

/** Names the part of a text with one `@` that is to be removed, so that only the address is left; undefined for an address. */
export function partBesideEmail(text: string): string | undefined {
	return NO_PART_OF_AN_EMAIL.find(([pattern]) => pattern.test(text))?.[1];
}

/** Returns an ID as one percent-encoded segment of a path; undefined if it would lead to another path. */
export function toSegment(id: string): string | undefined {
	return isSegment(id) ? encodeURIComponent(id) : undefined;
}

/**
 * Returns a path below the Base URL, percent-encoded and without a slash at its start. The user may write it with or without
 * escapes.
 * @returns undefined if it may lead to another path
 */
export function toPath(text: string): string | undefined {
	const path = text.replace(/^\//, '');
	const decoded = decodePercent(path);
	if (decoded === undefined || /[?#\\]/.test(path)) return undefined;
	// Some servers decode an escaped slash before they read the path.
	if (!decoded.split(/[/\\]/).every(isSegment)) return undefined;
	const segments = path.split('/').map((segment) => decodeURIComponent(segment));
	return segments.map((segment) => encodeURIComponent(segment)).join('/');
}

/** Decodes a percent-encoded text; undefined if it is malformed. */
export function decodePercent(text: string): string | undefined {
	try {
		return decodeURIComponent(text);
	} catch {
		return undefined;
	}
}

/** Checks whether a text names one record or folder: an empty one would lead to all records, `..` to the folder above. */
function isSegment(text: string): boolean {
	return !['', '.', '..'].includes(text) && findInvisible(text) === undefined;
}
