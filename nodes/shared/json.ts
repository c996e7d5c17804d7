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

/** Checks whether a value is a finite number, and no whole number so large that JavaScript may have rounded it. */
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

/** Returns the character set that a Content-Type header names; '' if it names none. */
export function charsetOf(contentType: unknown): string {
	return /;\s*charset\s*=\s*["']?([^\s"';,]+)/i.exec(String(contentType ?? ''))?.[1] ?? '';
}

/**
 * Returns the text of bytes: as UTF-8 where that is valid (RFC 8259, §8.1, for JSON), else in the named character set, else
 * in Latin-1. Many servers name another character set than they use.
 */
export function decodeText(bytes: Uint8Array, charset = ''): string {
	// Bytes of UTF-16 can be valid UTF-8, too.
	const charsets = /^utf-?16/i.test(charset) ? [charset, 'utf-8'] : ['utf-8', charset];
	for (const name of charsets) {
		try {
			return new TextDecoder(name, { fatal: true }).decode(bytes);
		} catch {
			// The bytes are invalid in this character set, or n8n's Node.js does not know it.
		}
	}
	return new TextDecoder('latin1').decode(bytes);
}

/** Returns the text of a header. Many senders write it in UTF-8, which Node.js reads as Latin-1. */
export function decodeHeader(value: unknown): string {
	return decodeText(Buffer.from(String(value ?? ''), 'latin1'));
}

/** 16 digits in a row, with or without a decimal point: JavaScript may round such a number. */
const LONG_NUMBER = /\d(\.?\d){15}/;

/**
 * Parses JSON. A number that JavaScript would round becomes a string with its digits. Node.js 20 (n8n 1) does not show them:
 * there, the number stays rounded.
 * @returns undefined if the text is not JSON
 */
export function parseJson(text: string): unknown {
	try {
		return LONG_NUMBER.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
	} catch {
		return undefined;
	}
}

/** A reviver of `JSON.parse`. Node.js 22 and newer give it the source of a number. */
function keepDigits(_name: string, value: unknown, context?: { source?: string }): unknown {
	const source = context?.source;
	if (typeof value !== 'number' || source === undefined) return value;
	return isExact(value) && digitsOf(String(value)) === digitsOf(source) ? value : source;
}

/** Returns the digits of a number without the zeros at both ends: 5 for `0.50` and `5e2`. Rounding changes them. */
function digitsOf(number: string): string {
	const digits = number.replace(/e.*|[.-]/gi, '');
	return /^0*(\d*[1-9])?/.exec(digits)?.[1] ?? '';
}

/** Thrown for a number that JavaScript has rounded, or may have. */
export class DigitsLost extends Error {}

/**
 * Returns a copy of a value as JSON has it: dates become text, and properties that are undefined are left out.
 * @throws DigitsLost; any other error if JSON can't express the value, such as NaN, a Map, or a list that contains itself
 */
export function toPlain(value: unknown): unknown {
	if (writesItself(value)) {
		const text = value.toJSON();
		if (typeof text === 'string') return text;
		throw new TypeError('An invalid date, or an object of a class');
	}
	switch (typeOf(value)) {
		case 'Null':
		case 'Boolean':
		case 'String':
			return value;
		case 'Number':
			if (isExact(value)) return value;
			if (Number.isFinite(value)) throw new DigitsLost();
			throw new TypeError('NaN or Infinity');
		case 'Array':
			return (value as unknown[]).map(toPlain);
		case 'Object': {
			const entries = Object.entries(value as object).filter(([, inner]) => inner !== undefined);
			return Object.fromEntries(entries.map(([name, inner]) => [name, toPlain(inner)]));
		}
		default:
			throw new TypeError('Nothing of JSON');
	}
}

/** Checks whether an object writes itself as JSON, as dates do. */
export function writesItself(value: unknown): value is { toJSON(): unknown } {
	return isObject(value) && typeof value.toJSON === 'function';
}

/** Returns a value's type, such as `Array` or `Map`. `instanceof` would not know values of n8n's expressions, which run in their own context. */
function typeOf(value: unknown): string {
	return Object.prototype.toString.call(value).slice('[object '.length, -1);
}
