import type { IDataObject } from 'n8n-workflow';

/** Whether a value is what JSON calls an object: neither an array nor null. */
export function isObject(value: unknown): value is IDataObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A text as it is, an exact number as text; undefined for anything else. */
export function exactText(value: unknown): string | undefined {
	if (typeof value === 'string') return value;
	return isExactNumber(value) ? String(value) : undefined;
}

/** Whether a value is a number whose digits JavaScript has kept. */
function isExactNumber(value: unknown): boolean {
	return Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
}

/** The value at a dotted path, such as `data.users` or `events.0.name`; undefined where there is none. */
export function valueAt(value: unknown, path: string): unknown {
	return path
		.split('.')
		.reduce(
			(inner, key) =>
				typeof inner === 'object' && inner !== null && Object.hasOwn(inner, key)
					? (inner as IDataObject)[key]
					: undefined,
			value,
		);
}

/** A name in the form that names are compared in: `first_name`, `first-name` and `FirstName` are equal. */
export function plainName(name: string): string {
	return name.replace(/(?<=.)[\s._-]/g, '').toLowerCase();
}

/** Levels. n8n itself fails on an item with thousands of nested levels. */
const DEEPEST = 500;

/** Objects and arrays in one text: each takes twenty times the memory of its `{},`. */
const MOST_OBJECTS = 1_000_000;

/**
 * The text of a body.
 * @param contentType its header, which may name a character set; JSON without one is UTF-8 (RFC 8259, §8.1)
 * @returns undefined where the character set is unknown, or the bytes are invalid in it
 */
export function decodeText(bytes: Uint8Array, contentType?: unknown): string | undefined {
	const [, charset = 'utf-8'] =
		/;\s*charset\s*=\s*["']?([^\s"';,]+)/i.exec(String(contentType ?? '')) ?? [];
	try {
		// MySQL's name for UTF-8 is one that stands in headers, too.
		const label = charset.replace(/^utf8mb[34]$/i, 'utf-8');
		return new TextDecoder(label, { fatal: true }).decode(bytes);
	} catch {
		return undefined;
	}
}

/**
 * The value of a JSON text. A number that JavaScript can't hold exactly becomes a text with its digits.
 * @param inexact takes these numbers in, as they are written without a sign
 * @returns the text itself where it is not JSON, is nested too deeply, or has too many objects
 */
export function parseJson(text: string, inexact: string[] = []): unknown {
	try {
		const exact = withExactNumbers(text, inexact);
		// The original is parsed as well: quotes could turn invalid JSON, such as `[1.e+25]`, into valid JSON.
		const value = JSON.parse(text) as unknown;
		return exact === text ? value : (JSON.parse(exact) as unknown);
	} catch {
		return text;
	}
}

/**
 * The same JSON with quotes around the numbers that are not exact. Node.js 20, which runs n8n 1, has no
 * other way: its JSON.parse does not show a number's source.
 * @param inexact see {@link parseJson}
 * @throws RangeError where it is nested too deeply, or has too many objects
 */
function withExactNumbers(json: string, inexact: string[]): string {
	const parts: string[] = [];
	let copied = 0;
	let depth = 0;
	let objects = 0;
	for (let at = 0; at < json.length; at++) {
		const code = json.charCodeAt(at);
		if (code === QUOTE) at = endOfText(json, at);
		else if (code === BRACKET || code === BRACE) {
			if (++depth > DEEPEST || ++objects > MOST_OBJECTS) throw new RangeError('Too much');
		} else if (code === BRACKET + 2 || code === BRACE + 2) depth--;
		else if (code >= ZERO && code <= NINE) {
			const end = endOfNumber(json, at);
			if (end - at > SHORTEST_INEXACT && !isExact(json.slice(at, end))) {
				const start = json[at - 1] === '-' ? at - 1 : at;
				parts.push(json.slice(copied, start), `"${json.slice(start, end)}"`);
				copied = end;
				inexact.push(json.slice(at, end));
			}
			at = end - 1;
		}
	}
	return parts.length === 0 ? json : parts.join('') + json.slice(copied);
}

const [QUOTE, BACKSLASH, BRACKET, BRACE, ZERO, NINE] = [0x22, 0x5c, 0x5b, 0x7b, 0x30, 0x39];

/** Characters. The shortest inexact numbers look like `1e400`. */
const SHORTEST_INEXACT = 4;

/** Some characters of a text. There is a bound for them since V8 keeps a stack for each repetition. */
const CHARACTERS = /(?:[^"\\]|\\[^]){1,5000}/y;

/** By V8's own searches, which take the same time however often n8n has run this before. */
function endOfText(json: string, start: number): number {
	const quote = json.indexOf('"', start + 1);
	if (json.charCodeAt(quote - 1) !== BACKSLASH) return quote < 0 ? json.length : quote;
	let end = start + 1;
	CHARACTERS.lastIndex = end;
	while (CHARACTERS.test(json)) end = CHARACTERS.lastIndex;
	return end;
}

function endOfNumber(json: string, start: number): number {
	let end = start + 1;
	while (end < json.length && '0123456789.eE+-'.includes(json[end]!)) end++;
	return end;
}

/** A whole number without an exponent, such as an ID, is exact if it is a safe integer. */
function isExact(number: string): boolean {
	if (number.length >= 400) return false;
	const value = Number(number);
	if (/^\d+$/.test(number)) return Number.isSafeInteger(value);
	if (String(value) === number) return true;
	return normalized(number) === normalized(String(value));
}

/** A number's significant digits and exponent, the same for each notation; '' for zero and for no number. */
function normalized(number: string): string {
	const [, whole = '', fraction = '', exponent = '0'] =
		/^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(number) ?? [];
	const digits = (whole + fraction).replace(/^0+/, '');
	// Not by a pattern, which would begin anew at each zero.
	let end = digits.length;
	while (digits[end - 1] === '0') end--;
	const significant = digits.slice(0, end);
	return (
		significant &&
		`${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`
	);
}

/** Whether an inexact number is written as JavaScript writes it: its digits were lost before it was put there. */
export function isRounded(inexact: string): boolean {
	return String(Number(inexact)) === inexact;
}

/**
 * The value as its JSON says it, without anything that could write itself in another way later.
 * @returns why JSON would change it: a number has lost digits, or something in it is not a text, a finite
 * number, a boolean, null, a list, a plain object, or an object such as a date that is written as a text. A property
 * may be undefined, which leaves it out.
 */
export function throughJson(value: unknown): { value: unknown } | 'digitsLost' | 'notJson' {
	let problem: 'digitsLost' | 'notJson' | undefined;
	try {
		const json = JSON.stringify(value, function (this: Record<string, unknown>, name, written) {
			problem ??= problemOf(this[name], written, Array.isArray(this));
			return written as unknown;
		});
		return problem ?? { value: JSON.parse(json) as unknown };
	} catch {
		return 'notJson';
	}
}

/** @param written what the value's own `toJSON` gives: a text of an object that is valid, such as a date */
function problemOf(value: unknown, written: unknown, isInList: boolean) {
	if (typeof written === 'number' && !isExactNumber(written)) {
		return Number.isFinite(written) ? 'digitsLost' : 'notJson';
	}
	if (typeof written === 'string') return typeof value === 'bigint' ? 'notJson' : undefined;
	if (written !== value) return 'notJson';
	if (value === undefined) return isInList ? 'notJson' : undefined;
	const isPrimitive = value === null || ['number', 'boolean'].includes(typeof value);
	return isPrimitive || Array.isArray(value) || isPlain(value) ? undefined : 'notJson';
}

/** Whether a value is a plain object, in whatever realm it was made. */
export function isPlain(value: unknown): value is IDataObject {
	if (!isObject(value)) return false;
	const prototype = Object.getPrototypeOf(value) as object | null;
	return prototype === null || Object.getPrototypeOf(prototype) === null;
}
