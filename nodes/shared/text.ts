/**
 * A character that nobody sees: a blank, a control or format character, half of a surrogate pair,
 * or another one that Unicode does not display.
 */
const UNSEEN = /[\p{Z}\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800\ufffc\ufffe\uffff]/u;

/** Removes whitespace and invisible characters around a text. */
export function trimInvisible(text: string): string {
	const characters = [...text];
	let start = 0;
	let end = characters.length;
	// Loops, because a regular expression takes very long for much whitespace within the text.
	while (start < end && UNSEEN.test(characters[start]!)) start++;
	while (start < end && UNSEEN.test(characters[end - 1]!)) end--;
	return characters.slice(start, end).join('');
}

/** Characters of a text that an error shows. */
export const MAX_SHOWN = 30;

/**
 * Finds the first invisible character: its code point, such as `U+200B`, its position from 1 on,
 * and the text directly before it.
 * @param pattern of the characters that count
 */
export function findInvisible(
	text: string,
	pattern = UNSEEN,
): { code: string; position: number; before: string } | undefined {
	const characters = [...text];
	// A space between words is no surprise.
	const index = characters.findIndex((one) => one !== ' ' && pattern.test(one));
	if (index === -1) return undefined;
	const code = characters[index]!.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
	const before = characters.slice(Math.max(0, index - MAX_SHOWN), index).join('');
	return { code: `U+${code}`, position: index + 1, before };
}

/** What programs and spreadsheets write in place of a value: nobody has it as an ID. */
const NOT_A_VALUE = [
	// `\N` is that of database exports, and <NA> that of pandas.
	/^(null|undefined|nan|#?n\/a|<na>|\\n)$/i,
	// A date that an expression could not read, also within a text (n8n, issue 25267).
	/invalid date/i,
	// An object that became a text.
	/\[object /i,
	// Errors of spreadsheets in any language, such as #BEZUG!, #N/D and #NV. Numbers and names, such
	// as #1001, #PRO and #INV/A, are values.
	/^#([^1-9\p{Ll}]*[!?][^1-9\p{Ll}]*|\p{Lu}\/\p{Lu}+|#*|NV|YOK|PUUTTUU|HIÁNYZIK|NENÍ_K_DISPOZICI|NEDOSTUPNÝ|GETTING_DATA|REF|VALUE|NAME|ERROR|SPILL)$/u,
	// The same within a text.
	/#(\p{Lu}[\p{Lu}/0]+!|[nN]\/[aA]|NV$|NAME\?(?!\w))/u,
	// LibreOffice's Err:502, and Google's Loading... before a sheet is calculated.
	/^(err:\d{3}|(loading|lädt|chargement|cargando)\.\.\.)$/i,
	// The empty ID of .NET.
	/(?<![\p{L}\p{N}])(0{8}-[0-]+|0{32})[})]?$/u,
];

export function isNotAValue(text: string): boolean {
	return NOT_A_VALUE.some((pattern) => pattern.test(comparable(text)));
}

/** Characters of a text that are compared with such values. */
const MAX_COMPARED = 200;

/** Returns the start of a text, with letters and signs of other widths and forms as plain ones. */
function comparable(text: string): string {
	return text.slice(0, MAX_COMPARED).normalize('NFKC');
}

/** Characters of a text that is normalized at once: it takes very long for many accents in a row. */
const MAX_NORMALIZED = 10_000;

/** A letter with what belongs to it: accents, parts of a Hangul syllable, voicing marks of kana. */
const LETTER = /\P{M}[\p{M}\u1160-\u11ff\uff9e\uff9f]{0,1000}/gu;

/** Normalizes a text for comparison: a very long one letter by letter, each with its accents. */
export function normalize(text: string, form: 'NFC' | 'NFKC'): string {
	if (text.length <= MAX_NORMALIZED) return text.normalize(form);
	return text.replace(LETTER, (letter) => letter.normalize(form));
}

/** Words by which models and people say that there is no value. */
// prettier-ignore
const WORDS_FOR_NONE = [
	'null', 'none', 'nil', 'nonetype', 'undefined', 'nan', 'nat', 'na', 'nd', 'no', 'not', 'nothing',
	'empty', 'blank', 'missing', 'unknown', 'unset', 'unspecified', 'unavailable', 'invalid',
	'optional', 'omit', 'omitted', 'skip', 'tbd', 'placeholder', 'string',
];

/** Words that they write beside those, as in `not provided` and `no AI token`. */
// prettier-ignore
const WORDS_BESIDE = [
	'a', 'ai', 'available', 'applicable', 'by', 'date', 'datetime', 'did', 'given', 'id', 'it', 'key',
	'leave', 'mentioned', 'provide', 'provided', 'set', 'specified', 'the', 'token', 'user', 'value',
];

/** Templates in which nothing was filled in. */
const PLACEHOLDERS = [
	// A name between marks, as in `<user_id>`, `##ticket.id##` and `__ID__`. What has a digit, the @
	// of a message's ID, or the quotes of JSON is a value.
	/^([<[{%#*|«]|__)(?!.*[^\s@]@)[^\p{N}"':]*([>\]}%#*|»]|__)$/u,
	// {0}, {field_1}, %s
	/^\{(\d{1,2}|[a-z_]\w{0,19})\}$|^%(\d\$)?[sd]$/i,
	// @{triggerBody()?["id"]}, YOUR_PAYMENT_ID
	/^@\{.*\}$|^YOUR_[A-Z_]+$/,
];

export function isPlaceholder(text: string): boolean {
	return text.length <= MAX_COMPARED && PLACEHOLDERS.some((pattern) => pattern.test(text));
}

/**
 * Checks whether a text says that there is no value, by words such as `not provided`, or by signs
 * alone. A blank text does not.
 */
export function saysNone(text: string): boolean {
	if (text.length > MAX_COMPARED || trimInvisible(text) === '') return false;
	const words = wordsIn(text);
	const hasWordForNone = words.some((word) => WORDS_FOR_NONE.includes(word));
	const saysMore = words.some((word) => ![...WORDS_FOR_NONE, ...WORDS_BESIDE].includes(word));
	const hasOnlySigns = /^[\p{P}\p{Sm}\p{Sk}\s]+$/u.test(text);
	return (hasWordForNone && !saysMore) || hasOnlySigns;
}

/** What programs write for a missing part of a text. */
const MISSING_PARTS = [
	// pay_null, pay-nan. None Smith is a name.
	/(?<![\p{L}\p{N}])(null|NULL|NaN|nan|NaT|None|<(nil|NA|no value)>)(?![\p{L}\p{N}]| \p{L})/u,
	// pay_none, inv_N/A
	/[_:./#-](none|nil|n\/a)$/i,
	// pay_undefined, INVnull. An ID of random letters may have NaN in it.
	/undefined(?!\p{Ll})|null$/iu,
	// pay_, my-shop-, stripe: and -upgrade, as n8n writes nothing for a part that is missing. Random
	// IDs mix small letters and capitals.
	/^\p{L}([\p{Ll}\d_-]*|[\p{Lu}\d_-]*)[_-]$|[:#|]$/u,
	/^[_-]([\p{Ll}\d_-]*|[\p{Lu}\d_-]*)\p{L}$/u,
	// $id, and pay_{id}, pay_%ID%. What looks like <id> may be markup.
	/^\$!?\{?[A-Za-z_]+\}?$|\{[A-Za-z_.]+\}|%[A-Za-z_.]{3,}%/,
];

/**
 * Checks whether a text stands for no value, or lacks a part of it. Elsewhere than in a key, such
 * words may be names, such as the plan `none`.
 */
export function standsForNone(text: string): boolean {
	// In JSON, null is a value.
	const isJson = /^([{][^]*[}]|\[[^]*\])$/.test(text);
	const start = text.slice(0, MAX_COMPARED);
	const lacksPart = !isJson && MISSING_PARTS.some((pattern) => pattern.test(start));
	return saysNone(text) || isPlaceholder(text) || isNotAValue(text) || lacksPart;
}

/** Returns the words and numbers in a text, in lower case. N/A is one word. */
function wordsIn(text: string): string[] {
	const joined = comparable(text)
		.toLowerCase()
		.replace(/\bn ?[/.] ?([ad])\b/g, 'n$1');
	return joined.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}

/** Characters of an email address: 64, the @, and 255 (RFC 5321, §4.5.3.1). */
export const MAX_EMAIL_LENGTH = 320;

/**
 * Normalizes an email address for comparison: in lower case, and its domain in ASCII. A browser's
 * form sends `müller.de` so.
 */
export function normalizeEmail(email: string): string {
	// A longer text is no address, and normalizing it could take very long.
	if (email.length > MAX_EMAIL_LENGTH) return email;
	// The Greek sigma has two small forms, by its place in the word.
	const address = trimInvisible(email).normalize('NFC').toLowerCase().replaceAll('ς', 'σ');
	const [local, domain = '', ...others] = address.split('@');
	const url = `http://${domain}`;
	const isDomain = others.length === 0 && !/[/?#:\\]/.test(domain) && URL.canParse(url);
	return isDomain ? `${local}@${new URL(url).host}` : address;
}

/** What people's tools put around an address or into it. */
const NO_PART_OF_AN_EMAIL = [
	// mailto:a@b.example
	/^mailto(:|%3a)/gi,
	// Email: a@b.example
	/^[\p{L} ]+[=:：＝]/gu,
	// Ann <a@b.example>, "a@b.example", a@b.example;
	/[<>()[\]{}|"“”„«»,;:\\]/g,
	// %20a@b.example, u003ca@b.exampleu003e
	/%[\da-f]{2}|^u003[ce]/gi,
	// 'a@b.example as a spreadsheet's text, • a@b.example
	/^[^\p{L}\p{N}_+]+/gu,
	// undefined@undefined
	/^undefined(?=@)/g,
];

/** What does not belong into a domain. Before the `@`, providers in Japan allow two dots in a row. */
const NO_PART_OF_A_DOMAIN = [
	// a@b..example, a@.b.example
	/\.\.+|@\.+/g,
	// a@-b.example
	/[@.]-|-\.|-$/g,
	// a@undefined
	/(?<=^@)(undefined|null|NaN)$/g,
	// a@b.example!
	/[^@\p{L}\p{N}\p{M}._-]/gu,
];

/**
 * Names what is to be removed from a text with one `@`, so that only the address is left; undefined
 * for an address.
 */
export function partBesideEmail(text: string): string | undefined {
	if (text.endsWith('.')) return "'.' at its end";
	const domain = text.slice(text.indexOf('@'));
	const parts =
		firstMatches(NO_PART_OF_AN_EMAIL, text) ?? firstMatches(NO_PART_OF_A_DOMAIN, domain);
	return parts && [...new Set(parts)].map((part) => `'${part}'`).join(' and ');
}

/** Returns what the first pattern that matches has found in the text. */
function firstMatches(patterns: RegExp[], text: string): string[] | undefined {
	return (
		patterns.map((pattern) => text.match(pattern)).find((found) => found !== null) ?? undefined
	);
}

/**
 * Returns an ID as one percent-encoded segment of a path; undefined if it would lead to another
 * path.
 */
export function toSegment(id: string): string | undefined {
	return isSegment(id) ? encodeURIComponent(id) : undefined;
}

/**
 * Returns a path below the Base URL, percent-encoded and without a slash at its start. The user may
 * write it with or without escapes.
 * @returns undefined if it may lead to another path
 */
export function toPath(text: string): string | undefined {
	if (/[?#\\]/.test(text)) return undefined;
	const segments = text.replace(/^\//, '').split('/').map(decodePercent);
	// Some servers decode an escaped slash before they read the path.
	const isBelow = segments.every((segment) => segment?.split(/[/\\]/).every(isSegment));
	if (!isBelow) return undefined;
	return segments.map((segment) => encodeURIComponent(segment!)).join('/');
}

/** Decodes a percent-encoded text; undefined if it is malformed. */
export function decodePercent(text: string): string | undefined {
	try {
		return decodeURIComponent(text);
	} catch {
		return undefined;
	}
}

/**
 * Checks whether a text names one record or folder: an empty one would lead to all records, `..` to
 * the folder above.
 */
function isSegment(text: string): boolean {
	// U+FFFD stands for a character that was decoded wrongly.
	const isDamaged = findInvisible(text) !== undefined || text.includes('\ufffd');
	return !['', '.', '..'].includes(text) && !isDamaged;
}
