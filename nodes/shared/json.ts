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

/** Checks whether a value is a finite number, and not a whole number so large that JavaScript may have rounded it. */
function isExact(value: unknown): boolean {
	return Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
}

/** Returns the value at a dotted path, such as `data.users` or `events.0.name`; undefined if there is none. */
export function valueAt(value: unknown, path: string | string[]): unknown {
	const names = typeof path === 'string' ? path.split('.') : path;
	return names.reduce((inner, key) => {
		const isContainer = typeof inner === 'object' && inner !== null;
		// Neither an inherited property, nor the length of an array.
		const isThere = isContainer && Object.prototype.propertyIsEnumerable.call(inner, key);
		return isThere ? (inner as IDataObject)[key] : undefined;
	}, value);
}

/**
 * Returns the text of a body.
 * @param contentType its header, which may name a character set; JSON without one is UTF-8 (RFC 8259, §8.1)
 * @returns undefined if the character set is unknown, or the bytes are invalid in it
 */
export function decodeText(bytes: Uint8Array, contentType?: unknown): string | undefined {
	const [, charset] = /;\s*charset\s*=\s*["']?([^\s"';,]+)/i.exec(String(contentType ?? '')) ?? [];
	try {
		return new TextDecoder(charset, { fatal: true }).decode(bytes);
	} catch {
		return undefined;
	}
}

/** Reason why a value can't be sent as JSON. */
type JsonProblem = 'notJson' | 'digitsLost';

/**
 * Parses JSON. A number that JavaScript would round becomes a string with its digits; `hasRounded` is true then.
 * @returns undefined if the text is not JSON
 */
export function parseJson(text: string): { value: unknown; hasRounded: boolean } | undefined {
	try {
		const value: unknown = JSON.parse(text);
		const quoted = mayRound(text) ? quoteRounded(text) : text;
		const hasRounded = quoted.length > text.length;
		return { value: hasRounded ? JSON.parse(quoted) : value, hasRounded };
	} catch {
		return undefined;
	}
}

/** Numbers of 16 digits, or with an exponent. JavaScript keeps the digits of all others. Bounds keep the search linear. */
const LONG_NUMBER = /(?<=^|[\s:,[])-?(?:[\d.]{1,15}e|[\d.]{16})[\d.e+-]*/gi;

/** Checks whether JSON has a number that would be rounded, or a string that looks like one. */
function mayRound(text: string): boolean {
	for (const [number] of text.matchAll(LONG_NUMBER)) if (!keepsDigits(number)) return true;
	return false;
}

/** Tokens of valid JSON: an escape in a string, the start or end of a string, a long number. */
const TOKEN = new RegExp(`\\\\.|"|${LONG_NUMBER.source}`, 'gi');

/**
 * Puts quotes around each number of valid JSON that would be rounded. A reviver of `JSON.parse` takes seconds and
 * gigabytes for the millions of numbers that 16 MB can hold, and shows no digits in Node.js 20 (n8n 1).
 */
function quoteRounded(text: string): string {
	let quoted = '';
	let copied = 0;
	let isInString = false;
	for (const { 0: token, index } of text.matchAll(TOKEN)) {
		if (token === '"') isInString = !isInString;
		else if (!isInString && !keepsDigits(token)) {
			quoted += `${text.slice(copied, index)}"${token}"`;
			copied = index + token.length;
		}
	}
	return quoted + text.slice(copied);
}

/** Characters. A longer number becomes a string without a look at its digits, which would take time. */
const LONGEST_NUMBER = 400;

function keepsDigits(source: string): boolean {
	if (source.length > LONGEST_NUMBER) return false;
	const value = Number(source);
	// A whole number without an exponent, such as an ID.
	if (/^-?\d+$/.test(source)) return isExact(value);
	return Number.isFinite(value) && digitsOf(String(value)) === digitsOf(source);
}

/** Returns the digits of a number without the zeros at both ends. Rounding changes them. */
function digitsOf(number: string): string {
	return number.replace(/e.*|[.-]/gi, '').replace(/^0+|0+$/g, '');
}

/**
 * Returns a plain copy of a value, so that a later `toJSON` can't change it. Dates, for example, become strings.
 * @returns the problem if a number has lost digits, or JSON can't express the value
 */
export function throughJson(value: unknown): { value: unknown } | { problem: JsonProblem } {
	let problem: JsonProblem | undefined;
	try {
		const json = JSON.stringify(value, function (this: IDataObject, name, written: unknown) {
			problem ??= problemOf(this[name], written, Array.isArray(this));
			return written;
		});
		return problem ? { problem } : { value: JSON.parse(json) as unknown };
	} catch {
		return { problem: 'notJson' };
	}
}

/** @param written the result of the value's own `toJSON`, or else the value */
function problemOf(value: unknown, written: unknown, isInList: boolean): JsonProblem | undefined {
	if (typeof written === 'number' && !isExact(written)) {
		return Number.isFinite(written) ? 'digitsLost' : 'notJson';
	}
	// n8n gives BigInt a `toJSON` that returns a string (n8n-workflow/src/utils.ts).
	if (typeof written === 'string') return typeof value === 'bigint' ? 'notJson' : undefined;
	// An invalid date is written as null.
	if (written !== value) return 'notJson';
	if (value === undefined) return isInList ? 'notJson' : undefined;
	const isPrimitive = value === null || ['number', 'boolean'].includes(typeof value);
	return isPrimitive || Array.isArray(value) || isPlain(value) ? undefined : 'notJson';
}

/** Checks whether a value is a plain object, and not one of a class such as Map, which JSON writes as `{}`. */
export function isPlain(value: unknown): value is IDataObject {
	return isObject(value) && Object.getPrototypeOf(value) === Object.prototype;
}
