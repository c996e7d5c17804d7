import type { IDataObject } from 'n8n-workflow';

/** Checks whether a value is an object of JSON: neither an array nor null. */
export function isObject(value: unknown): value is IDataObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns a string as it is, and an exact number as a string; undefined for anything else. */
export function exactString(value: unknown): string | undefined {
	if (typeof value === 'string') return value;
	return isExact(value) ? String(value) : undefined;
}

/**
 * Checks whether a value is a finite number, and no whole number so large that JavaScript may have
 * rounded it.
 */
function isExact(value: unknown): boolean {
	return Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
}

/**
 * Returns the value at a dotted path, such as `data.users` or `events.0.name`; undefined if there
 * is none.
 */
export function valueAt(value: unknown, path: string | string[]): unknown {
	const names = typeof path === 'string' ? path.split('.') : path;
	return names.reduce((inner, key) => {
		const isContainer = typeof inner === 'object' && inner !== null;
		// Neither an inherited property, nor the length of an array.
		const isThere = isContainer && Object.prototype.propertyIsEnumerable.call(inner, key);
		return isThere ? (inner as IDataObject)[key] : undefined;
	}, value);
}

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

/** Returns the character set that a Content-Type header names; '' if it names none. */
export function charsetOf(contentType: unknown): string {
	return /;\s*charset\s*=\s*["']?([^\s"';,]+)/i.exec(String(contentType ?? ''))?.[1] ?? '';
}

/**
 * Returns the text of bytes. Many servers name another character set than they use, so the first of
 * these counts:
 *
 * 1. UTF-16, if the bytes show it;
 * 2. UTF-8, if the bytes are valid in it (RFC 8259, §8.1, for JSON);
 * 3. UTF-8, if no other is named, and the bytes have at least one character of it: damaged ones
 *    become U+FFFD;
 * 4. the named character set; else Latin-1.
 */
export function decodeText(bytes: Uint8Array, charset = ''): string {
	const utf16 = utf16Of(bytes, charset);
	if (utf16) return new TextDecoder(utf16).decode(bytes);
	const text = decode(bytes, 'utf-8');
	if (text !== undefined) return text;
	if (/^(utf-?8)?$/i.test(charset)) {
		const damaged = new TextDecoder().decode(bytes);
		if (/[^\0-\x7f\ufffd]/.test(damaged)) return damaged;
	}
	return decode(bytes, charset) ?? new TextDecoder('latin1').decode(bytes);
}

/** Code pages of Windows that Node.js knows by another name. */
const CODE_PAGES = new Map([
	['932', 'shift_jis'],
	['936', 'gbk'],
	['949', 'euc-kr'],
	['950', 'big5'],
]);

/** Returns Node.js's name of a character set. Java writes `MS949`, `x-windows-949` and `EUC_KR`. */
function standardCharset(charset: string): string {
	const [, codePage = ''] = /^(?:cp|ms|x-windows-)(\d+)$/i.exec(charset) ?? [];
	const named = /^(euc|iso)_/i.test(charset) ? charset.replaceAll('_', '-') : charset;
	return CODE_PAGES.get(codePage) ?? named;
}

/**
 * Returns undefined for bytes that are invalid in the character set, or if n8n's Node.js does not
 * know it.
 */
function decode(bytes: Uint8Array, charset: string): string | undefined {
	try {
		return new TextDecoder(standardCharset(charset), { fatal: true }).decode(bytes);
	} catch {
		return undefined;
	}
}

/**
 * Returns the kind of UTF-16, by a byte order mark or, if UTF-16 is named, by the zero bytes of
 * Latin letters.
 */
function utf16Of(bytes: Uint8Array, charset: string): 'utf-16le' | 'utf-16be' | undefined {
	const [first, second] = bytes;
	if (first === 0xff && second === 0xfe) return 'utf-16le';
	if (first === 0xfe && second === 0xff) return 'utf-16be';
	if (!/^utf-?16/i.test(charset) || !bytes.includes(0)) return undefined;
	return first === 0 ? 'utf-16be' : 'utf-16le';
}

/** Returns the text of a header. Many senders write it in UTF-8, which Node.js reads as Latin-1. */
export function decodeHeader(value: unknown): string {
	return decodeText(Buffer.from(String(value ?? ''), 'latin1'));
}

/** 16 digits in a row, with or without a decimal point: JavaScript may round such a number. */
const LONG_NUMBER = /\d(\.?\d){15}/;

/**
 * Parses JSON. A number that JavaScript would round becomes a string with its digits. Node.js 20
 * (n8n 1) does not show them: there, the number stays rounded.
 * @returns undefined if the text is not JSON
 */
export function parseJson(text: string): unknown {
	try {
		return LONG_NUMBER.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
	} catch {
		return undefined;
	}
}

/** Returns the start of a text that is not JSON, up to where it breaks. */
export function validStart(text: string): string {
	let valid = 0;
	let broken = text.length + 1;
	while (broken - valid > 1) {
		const middle = Math.floor((valid + broken) / 2);
		if (mayContinue(text.slice(0, middle))) valid = middle;
		else broken = middle;
	}
	return text.slice(0, valid);
}

/** Checks whether a text is JSON, or breaks only at its end. */
function mayContinue(text: string): boolean {
	try {
		JSON.parse(text);
		return true;
	} catch (error) {
		// V8 names the position, unless the text ends too early, or has a wrong character.
		const { message } = error as Error;
		const [, position] = /at position (\d+)/.exec(message) ?? [];
		return position ? Number(position) >= text.length : message.startsWith('Unexpected end');
	}
}

/** A reviver of `JSON.parse`. Node.js 22 and newer give it the source of a number. */
function keepDigits(_name: string, value: unknown, context?: { source?: string }): unknown {
	const source = context?.source;
	if (typeof value !== 'number' || source === undefined) return value;
	return isExact(value) && digitsOf(String(value)) === digitsOf(source) ? value : source;
}

/**
 * Returns the digits of a number without the zeros at both ends: 5 for `0.50` and `5e2`. Rounding
 * changes them.
 */
function digitsOf(number: string): string {
	const digits = number.replace(/e.*|[.-]/gi, '');
	return /^0*(\d*[1-9])?/.exec(digits)?.[1] ?? '';
}

/** Thrown for a number that JavaScript has rounded, or may have. */
export class DigitsLost extends Error {}

/**
 * Returns a copy of a value as JSON has it: dates become text, and properties that are undefined
 * are left out.
 * @throws DigitsLost; any other error if JSON can't express the value, such as NaN, a Map, or a
 *   list that contains itself
 */
export function toPlain(value: unknown): unknown {
	if (writesItself(value)) {
		const text = value.toJSON();
		if (typeof text === 'string') return text;
		throw new TypeError('An invalid date, or an object of a class');
	}
	if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
	if (typeof value === 'number') {
		if (isExact(value)) return value;
		if (Number.isFinite(value)) throw new DigitsLost();
		throw new TypeError('NaN or Infinity');
	}
	if (Array.isArray(value)) return value.map(toPlain);
	// Neither a Map nor an object of another class. `instanceof` would not know those of n8n's
	// expressions, which run in their own context.
	if (Object.prototype.toString.call(value) !== '[object Object]') {
		throw new TypeError('A value that JSON does not have');
	}
	const entries = Object.entries(value as object).filter(([, inner]) => inner !== undefined);
	return Object.fromEntries(entries.map(([name, inner]) => [name, toPlain(inner)]));
}

/** Checks whether an object writes itself as JSON, as dates do. */
export function writesItself(value: unknown): value is { toJSON(): unknown } {
	return isObject(value) && typeof value.toJSON === 'function';
}
