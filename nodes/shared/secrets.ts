import { isObject } from './json';

/** Replaces a secret. */
export const HIDDEN = '[hidden]';

/** Characters. A shorter text is no key, and would be found in many places. */
const SHORTEST = 8;

/** Characters. V8 can't compile a pattern for a longer text, and its error would show the text. */
const LONGEST = 4_096;

/** A pattern that finds the secrets in any encoding. It is global, for `replace`. */
export type Secrets = RegExp;

/**
 * What finds these secrets as they are, in hex, in base64, and with any of their characters escaped, also
 * several times over: for a URL, for JSON or for HTML. Each repetition in the pattern is bounded, and a
 * match starts with the secret's first character, so that no text takes long to search. The blanks around a
 * secret and the prefix of Standard Webhooks are no part of it.
 */
export function secretsOf(secrets: unknown[]): Secrets {
	const forms = secrets
		.filter((secret) => typeof secret === 'string')
		.map((secret) => withoutPrefix(secret.trim()))
		.filter(({ length }) => length >= SHORTEST)
		.map((secret) => secret.slice(0, LONGEST))
		.flatMap((secret) => [
			escaped(secret),
			anyCase(Buffer.from(secret).toString('hex')),
			...base64(Buffer.from(secret)),
		]);
	// The longest first, so that no part of one is left over.
	forms.sort((a, b) => b.length - a.length);
	return new RegExp(forms.join('|') || '(?!)', 'gu');
}

/** The Base64 of a Standard Webhooks secret, which often follows `whsec_`; any other secret as it is. */
export function withoutPrefix(secret: string): string {
	return secret.replace(/^whsec_/, '');
}

const ENTITIES: Record<string, string> = {
	'"': 'quot',
	'&': 'amp',
	"'": 'apos',
	'<': 'lt',
	'>': 'gt',
};

const BACKSLASHES = '\\\\{0,8}';

/** A secret of which each character is as it is, or in an escape of a URL, of JSON or of HTML. */
function escaped(secret: string): string {
	const [first, ...others] = [...secret].map((character) => {
		const hex = character.codePointAt(0)!.toString(16);
		const percent = Buffer.from(character)
			.toString('hex')
			.replace(/../g, (byte) => `%(?:25){0,4}${anyCase(byte)}`);
		const units = Array.from({ length: character.length }, (_, index) =>
			anyCase(character.charCodeAt(index).toString(16).padStart(4, '0')),
		);
		const entity = ENTITIES[character];
		const forms = [
			literal(character),
			percent,
			`&#[xX]0{0,4}${anyCase(hex)};`,
			`&#0{0,4}${character.codePointAt(0)};`,
			...(entity ? [`&${entity};`] : []),
		].join('|');
		return { forms, json: units.map((unit) => `u${unit}`).join(BACKSLASHES) };
	});
	const start = `(?:${first!.forms}|\\\\${first!.json})`;
	return start + others.map(({ forms, json }) => `${BACKSLASHES}(?:${forms}|${json})`).join('');
}

const BASE64_SIGNS: Record<string, string> = {
	'+': '(?:[+-]|%2[bB])',
	'/': `(?:${BACKSLASHES}/|_|%2[fF])`,
};

/** The end of a line within base64: as it is, or in an escape of JSON, a URL or HTML. */
const LINE_END = '(?:\\s|\\\\{1,8}[rnt]|%0[aAdD]|&#[xX]?\\w{1,4};){0,4}';

/**
 * Base64 at each of the three offsets that a secret can have in a longer text, without the characters at
 * its ends that its neighbours take part in, in both alphabets, and broken into lines.
 */
function base64(bytes: Buffer): string[] {
	return [0, 1, 2].map((offset) => {
		const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
		const start = Math.ceil((offset * 4) / 3);
		const end = Math.floor(((offset + bytes.length) * 4) / 3);
		const characters = [...encoded.slice(start, end)];
		return characters.map((one) => BASE64_SIGNS[one] ?? one).join(LINE_END);
	});
}

function anyCase(hex: string): string {
	return hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

function literal(character: string): string {
	return character.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&');
}

export function holdsSecret(text: string, secrets: Secrets): boolean {
	return text.search(secrets) >= 0;
}

/** An escape of JSON for a character that needs none; the pattern knows those of the secret itself alone. */
const NEEDLESS_ESCAPE = /\\u00[0-7]/i;

/**
 * A value with the secrets replaced in all its texts, numbers and names.
 * @param json that it was parsed from: where it holds none, no text of the value can hold one
 */
export function hideSecrets<T>(value: T, secrets: Secrets, json?: string): T {
	const mayHold = json === undefined || NEEDLESS_ESCAPE.test(json) || holdsSecret(json, secrets);
	return mayHold ? (hidden(value, secrets) as T) : value;
}

function hidden(value: unknown, secrets: Secrets): unknown {
	if (typeof value === 'string') return value.replace(secrets, HIDDEN);
	if (typeof value === 'number') return holdsSecret(String(value), secrets) ? HIDDEN : value;
	if (Array.isArray(value)) return value.map((inner) => hidden(inner, secrets));
	if (!isObject(value)) return value;
	return Object.fromEntries(
		Object.entries(value).map(([name, inner]) => [
			name.replace(secrets, HIDDEN),
			hidden(inner, secrets),
		]),
	);
}
