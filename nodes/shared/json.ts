import type { IDataObject } from 'n8n-workflow';

/** Whether a value is what JSON calls an object: neither an array nor null. */
export function isObject(value: unknown): value is IDataObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns a text as it is, and an exact number as text; undefined for anything else. */
export function exactText(value: unknown): string | undefined {
	if (typeof value === 'string') return value;
	return isExact(value) ? String(value) : undefined;
}

/** Whether a value is a number that JavaScript has not rounded to a whole one. */
function isExact(value: unknown): boolean {
	return Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
}

/** Returns the value at a dotted path, such as `data.users` or `events.0.name`; undefined if there is none. */
export function valueAt(value: unknown, path: string): unknown {
	return path.split('.').reduce((inner, key) => {
		const isThere = typeof inner === 'object' && inner !== null && Object.hasOwn(inner, key);
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

/** Why a text has no value: it is not JSON, it has too many values, or a number would be rounded. */
export type JsonProblem = 'notJson' | 'tooLarge' | 'digitsLost';

/**
 * Parses a JSON text. A number that JavaScript can't hold becomes a text with its digits. Node.js 20, which n8n 1
 * still allows, does not show a number's source: such a number is a problem there.
 */
export function parseJson(text: string): { value: unknown } | { problem: JsonProblem } {
	const { isTooLarge, isRounded } = scan(text);
	if (isTooLarge) return { problem: 'tooLarge' };
	let hasSource = true;
	const exactly = (_name: string, value: unknown, context?: { source?: string }): unknown => {
		if (typeof value !== 'number') return value;
		const { source } = context ?? {};
		hasSource &&= source !== undefined;
		return source === undefined || keepsDigits(value, source) ? value : source;
	};
	try {
		// With a reviver, parsing takes ten times as long.
		const value: unknown = isRounded ? JSON.parse(text, exactly) : JSON.parse(text);
		return hasSource ? { value } : { problem: 'digitsLost' };
	} catch {
		return { problem: 'notJson' };
	}
}

/** Commas and opening brackets outside strings. Each value takes many times the memory of its `0,`. */
const MOST_VALUES = 250_000;

/** Levels. n8n itself fails on an item with thousands of nested levels. */
const DEEPEST = 500;

const [QUOTE, COMMA, ZERO, NINE, BACKSLASH] = [0x22, 0x2c, 0x30, 0x39, 0x5c];
const [ARRAY, ARRAY_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Returns what a JSON text has outside its strings: too many values or levels, and a number that would be rounded. */
function scan(text: string): { isTooLarge: boolean; isRounded: boolean } {
	let [values, depth, deepest] = [0, 0, 0];
	let isRounded = false;
	for (let at = 0; at < text.length && values <= MOST_VALUES; at++) {
		const code = text.charCodeAt(at);
		if (code === QUOTE) at = endOfString(text, at);
		else if (code === COMMA) values++;
		else if (code === ARRAY || code === OBJECT) {
			values++;
			deepest = Math.max(deepest, ++depth);
		} else if (code === ARRAY_END || code === OBJECT_END) depth--;
		else if (code >= ZERO && code <= NINE) {
			NUMBER.lastIndex = at;
			const [source = ''] = NUMBER.exec(text) ?? [];
			isRounded ||= !keepsDigits(Number(source), source);
			at += source.length - 1;
		}
	}
	return { isTooLarge: values > MOST_VALUES || deepest > DEEPEST, isRounded };
}

/** Characters of a number without its sign; more are no number that JavaScript keeps. */
const NUMBER = /[\d.e+-]{1,400}/iy;

/** Returns the position of the quote at the end of a string: one after an even number of backslashes. */
function endOfString(text: string, start: number): number {
	for (let end = start; ;) {
		end = text.indexOf('"', end + 1);
		if (end < 0) return text.length;
		let before = end - 1;
		while (text.charCodeAt(before) === BACKSLASH) before--;
		if ((end - before) % 2 === 1) return end;
	}
}

/** Digits that each number keeps in JavaScript. */
const KEPT_DIGITS = 15;

function keepsDigits(value: number, source: string): boolean {
	// A whole number without an exponent, such as an ID.
	if (/^-?\d+$/.test(source)) return isExact(value);
	if (String(value) === source) return true;
	const digits = source.replace(/e.*/i, '').replace(/\D/g, '').replace(/^0+/, '');
	const isZero = value === 0 && digits !== '';
	return Number.isFinite(value) && digits.length <= KEPT_DIGITS && !isZero;
}

/**
 * Returns the value as its JSON says it, without anything that could write itself in another way later.
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
	if (typeof written === 'number' && !isExact(written)) {
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
