import { isObject } from './json';

/** Replaces a secret. */
export const HIDDEN = '[hidden]';

/** Characters of the shortest key. A shorter text would be found in many places. */
export const SHORTEST_SECRET = 8;

/** Spellings of the secrets. */
export type Secrets = readonly string[];

/** Returns the spellings to search for. Blanks around a secret, and the prefix of Standard Webhooks, are no part of it. */
export function secretsOf(secrets: unknown[]): Secrets {
	const spellings = secrets
		.filter((secret) => typeof secret === 'string')
		.map((secret) => withoutPrefix(secret.trim()))
		.filter(({ length }) => length >= SHORTEST_SECRET)
		.flatMap(spellingsOf);
	return [...new Set(spellings)];
}

/** Returns the Base64 of a Standard Webhooks secret, which often follows `whsec_`; any other secret as it is. */
export function withoutPrefix(secret: string): string {
	return secret.replace(/^whsec_/, '');
}

function spellingsOf(secret: string): string[] {
	const bytes = Buffer.from(secret);
	const hex = bytes.toString('hex');
	const jsonSpellings = jsonOf(secret);
	return [
		secret,
		...jsonSpellings,
		// JSON in a string of JSON.
		...jsonSpellings.flatMap((text) => [inJson(text), withSlashes(inJson(text))]),
		// Through bytes, as half a surrogate pair can't be percent-encoded.
		...percentEncodingsOf(bytes.toString()),
		hex,
		hex.toUpperCase(),
		...base64Of(bytes, 'base64'),
		...base64Of(bytes, 'base64url'),
	];
}

/**
 * Characters that are written as `\u00xx` by .NET's System.Text.Json; Gson; Go (Rails and PHP on request); all of these together.
 */
const ESCAPED_IN_JSON = [/\\"|[&'+<>`]/g, /[&'<=>]/g, /[&<>]/g, /\\"|[&'+/<=>`]/g];

function jsonOf(secret: string): string[] {
	const json = inJson(secret);
	const escaped = ESCAPED_IN_JSON.flatMap((characters) => {
		// An escaped quotation mark becomes \u0022: the code of its last character.
		const code = (one: string) => one.charCodeAt(one.length - 1).toString(16);
		return [
			json.replace(characters, (one) => `\\u00${code(one)}`),
			json.replace(characters, (one) => `\\u00${code(one).toUpperCase()}`),
		];
	});
	return [json, withSlashes(json), ...escaped];
}

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** PHP escapes slashes. */
const withSlashes = (json: string): string => json.replaceAll('/', '\\/');

/**
 * Characters that are not percent-encoded, beside RFC 3986's unreserved ones: none; by JavaScript's encodeURIComponent and
 * encodeURI; by Python's quote; by Go's PathEscape and URL.
 */
const KEPT = ['', "!'()*", "!#$&'()*+,/:;=?@", '/', '$&+:=@', '$&+,/:;=@'];

function percentEncodingsOf(text: string): string[] {
	const strict = encodeURIComponent(text).replace(
		/[!'()*]/g,
		(one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
	);
	const keeping = (kept: string) =>
		strict.replace(/%[2-7]./g, (escape) => {
			const one = decodeURIComponent(escape);
			return kept.includes(one) ? one : escape;
		});
	const form = new URLSearchParams({ text }).toString().slice('text='.length);
	const encodings = [form, ...KEPT.map(keeping)];
	const lowerCase = (one: string) => one.replace(/%../g, (escape) => escape.toLowerCase());
	return [...encodings, ...encodings.map(lowerCase)];
}

/** Encodes a secret at each of the three offsets in a longer text, without the ends that depend on its neighbours. */
function base64Of(bytes: Buffer, encoding: 'base64' | 'base64url'): string[] {
	return [0, 1, 2].map((offset) => {
		const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString(encoding);
		return text.slice(Math.ceil((offset * 4) / 3), Math.floor(((offset + bytes.length) * 4) / 3));
	});
}

export function holdsSecret(text: string | Buffer, secrets: Secrets): boolean {
	return secrets.some((secret) => text.includes(secret));
}

/** Replaces secrets in all strings, numbers and names. Cut strings only afterwards: a part of a secret is not found. */
export function hideSecrets<T>(value: T, secrets: Secrets): T {
	const strings: string[] = [];
	collectStrings(value, strings);
	// One search in all strings together takes a fraction of the time of a search in each.
	return holdsSecret(strings.join('\n'), secrets) ? (replaceIn(value, secrets) as T) : value;
}

function collectStrings(value: unknown, strings: string[]): void {
	if (typeof value === 'string') strings.push(value);
	else if (typeof value === 'number') strings.push(String(value));
	else if (Array.isArray(value)) for (const inner of value) collectStrings(inner, strings);
	else if (isObject(value)) {
		for (const name of Object.keys(value)) {
			strings.push(name);
			collectStrings(value[name], strings);
		}
	}
}

function replaceIn(value: unknown, secrets: Secrets): unknown {
	if (typeof value === 'string') return replaceInText(value, secrets);
	if (typeof value === 'number') return holdsSecret(String(value), secrets) ? HIDDEN : value;
	if (Array.isArray(value)) return value.map((inner) => replaceIn(inner, secrets));
	if (!isObject(value)) return value;
	const entries = Object.entries(value).map(([name, inner]) => {
		return [replaceInText(name, secrets), replaceIn(inner, secrets)];
	});
	return Object.fromEntries(entries);
}

/** Replaces each stretch that secrets cover. Two spellings may overlap, such as those of adjacent copies of a key. */
function replaceInText(text: string, secrets: Secrets): string {
	const ends = new Map<number, number>();
	for (const secret of secrets) {
		for (let start = text.indexOf(secret); start >= 0; start = text.indexOf(secret, start + 1)) {
			ends.set(start, Math.max(ends.get(start) ?? 0, start + secret.length));
		}
	}
	let shown = '';
	let covered = 0;
	for (const [start, end] of [...ends].sort(([one], [other]) => one - other)) {
		if (start >= covered) shown += text.slice(covered, start) + HIDDEN;
		covered = Math.max(covered, end);
	}
	return shown + text.slice(covered);
}
