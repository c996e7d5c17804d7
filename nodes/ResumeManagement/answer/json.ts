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
