import type { IDataObject } from 'n8n-workflow';

/** Whether a value is what JSON calls an object: neither an array nor null. */
export function isObject(value: unknown): value is IDataObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A text, or a number as one where its digits are exact; undefined for anything else. */
export function exactText(value: unknown): string | undefined {
	if (typeof value === 'string') return value;
	const isExact = Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
	return isExact ? String(value) : undefined;
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

/**
 * Whether JSON says the same as the value, so that nothing is left out or turned into something else: it
 * is made of texts, finite numbers, booleans, null, lists, plain objects and valid dates. A property may
 * be undefined, which is to leave it out.
 */
export function isJson(value: unknown, levels = DEEPEST): boolean {
	if (typeof value === 'number') return Number.isFinite(value);
	if (typeof value !== 'object') return typeof value === 'string' || typeof value === 'boolean';
	if (value === null || isDate(value)) return true;
	if (levels === 0) return false;
	if (Array.isArray(value)) return value.every((inner) => isJson(inner, levels - 1));
	const inner = Object.values(value).filter((one) => one !== undefined);
	return isPlain(value) && inner.every((one) => isJson(one, levels - 1));
}

/** Whether a value is an object of its own properties alone, in whatever realm it was made. */
export function isPlain(value: unknown): value is IDataObject {
	if (!isObject(value)) return false;
	const prototype = Object.getPrototypeOf(value) as object | null;
	return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** A valid Date, or one of Luxon's DateTime, which n8n's expressions give. */
function isDate(value: object): boolean {
	if (Object.prototype.toString.call(value) === '[object Date]') {
		return !Number.isNaN((value as Date).getTime());
	}
	const { isLuxonDateTime, isValid } = value as { isLuxonDateTime?: boolean; isValid?: boolean };
	return isLuxonDateTime === true && isValid === true && !isPlain(value);
}

/** An object with what stands at these paths alone, each a list of names; nothing within arrays. */
export function pick(value: IDataObject, paths: string[][]): IDataObject {
	const entries = Object.entries(value).flatMap(([name, inner]) => {
		const within = paths.filter(([first]) => first === name).map(([, ...rest]) => rest);
		if (within.some((rest) => rest.length === 0)) return [[name, inner]];
		const picked = within.length > 0 && isObject(inner) ? pick(inner, within) : {};
		return Object.keys(picked).length > 0 ? [[name, picked]] : [];
	});
	// Not by assignment, which would take the name `__proto__` for something else.
	return Object.fromEntries(entries) as IDataObject;
}

/** Levels; n8n itself fails on an item that is nested thousands of times. */
const DEEPEST = 500;

/**
 * The value of a JSON text, which may begin with a byte order mark; the text itself where it is none,
 * or is nested too deeply to be worked with.
 */
export function parseJson(text: string): unknown {
	try {
		const value = JSON.parse(text.replace(/^\uFEFF/, '')) as unknown;
		return isDeeper(value, DEEPEST) ? text : value;
	} catch {
		return text;
	}
}

function isDeeper(value: unknown, levels: number): boolean {
	if (typeof value !== 'object' || value === null) return false;
	return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}
