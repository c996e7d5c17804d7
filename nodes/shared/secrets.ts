import { isObject } from './json';

/** Replaces a secret. */
export const HIDDEN = '[hidden]';

/** Characters of the shortest key. A shorter text would be found in many places. */
const SHORTEST = 8;

/** Spellings of the secrets, the longest first: a shorter spelling may be a part of a longer one. */
export type Secrets = readonly string[];

/**
 * Returns the spellings in which the secrets are searched for. Blanks around a secret, and the prefix of Standard
 * Webhooks, are no part of it.
 */
export function secretsOf(secrets: unknown[]): Secrets {
	const spellings = secrets
		.filter((secret) => typeof secret === 'string')
		.map((secret) => withoutPrefix(secret.trim()))
		.filter(({ length }) => length >= SHORTEST)
		.flatMap(spellingsOf);
	return [...new Set(spellings)].sort((one, other) => other.length - one.length);
}

/** Returns the Base64 of a Standard Webhooks secret, which often follows `whsec_`; any other secret as it is. */
export function withoutPrefix(secret: string): string {
	return secret.replace(/^whsec_/, '');
}

function spellingsOf(secret: string): string[] {
	const bytes = Buffer.from(secret);
	const hex = bytes.toString('hex');
	const json = jsonOf(secret);
	return [
		secret,
		...json,
		// JSON in a string of JSON.
		...json.flatMap((text) => [inJson(text), withSlashes(inJson(text))]),
		...percentEncodingsOf(bytes.toString()),
		hex,
		hex.toUpperCase(),
		...base64Of(bytes, 'base64'),
		...base64Of(bytes, 'base64url'),
	];
}

/**
 * Characters that writers of JSON escape by their codes: .NET's System.Text.Json, Gson, Go (as Rails and PHP on
 * request), and all of them.
 */
const ESCAPED_IN_JSON = [/\\"|[&'+<>`]/g, /[&'<=>]/g, /[&<>]/g, /\\"|[&'+/<=>`]/g];

function jsonOf(secret: string): string[] {
	const json = inJson(secret);
	const escaped = ESCAPED_IN_JSON.flatMap((characters) => {
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
 * Characters that writers keep when they percent-encode, beside those of RFC 3986 that never need it: none,
 * JavaScript's encodeURIComponent and encodeURI, Python's quote, and Go's PathEscape and URL.
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

/**
 * Encodes at each of the three offsets that a secret can have in a longer text, such as a header, without the
 * characters at its ends that also depend on its neighbours.
 */
function base64Of(bytes: Buffer, encoding: 'base64' | 'base64url'): string[] {
	return [0, 1, 2].map((offset) => {
		const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString(encoding);
		return text.slice(Math.ceil((offset * 4) / 3), Math.floor(((offset + bytes.length) * 4) / 3));
	});
}

export function holdsSecret(text: string | Buffer, secrets: Secrets): boolean {
	return secrets.some((secret) => text.includes(secret));
}

/** Hides the secrets in a text, and cuts the text afterwards: a part of a secret could not be found any more. */
export function hideAndCut(text: string, secrets: Secrets, characters = Infinity): string {
	const hidden = secrets.reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text);
	return hidden.slice(0, characters);
}

/** Returns the value with the secrets hidden in all its texts, numbers and property names. */
export function hideSecrets<T>(value: T, secrets: Secrets): T {
	const texts: string[] = [];
	collectTexts(value, texts);
	// One search in all texts together takes a fraction of the time of a search in each.
	return holdsSecret(texts.join('\n'), secrets) ? (hidden(value, secrets) as T) : value;
}

function collectTexts(value: unknown, texts: string[]): void {
	if (typeof value === 'string') texts.push(value);
	else if (typeof value === 'number') texts.push(String(value));
	else if (Array.isArray(value)) for (const inner of value) collectTexts(inner, texts);
	else if (isObject(value)) {
		for (const name of Object.keys(value)) {
			texts.push(name);
			collectTexts(value[name], texts);
		}
	}
}

function hidden(value: unknown, secrets: Secrets): unknown {
	if (typeof value === 'string') return hideAndCut(value, secrets);
	if (typeof value === 'number') return holdsSecret(String(value), secrets) ? HIDDEN : value;
	if (Array.isArray(value)) return value.map((inner) => hidden(inner, secrets));
	if (!isObject(value)) return value;
	return Object.fromEntries(
		Object.entries(value).map(([name, inner]) => [
			hideAndCut(name, secrets),
			hidden(inner, secrets),
		]),
	);
}
