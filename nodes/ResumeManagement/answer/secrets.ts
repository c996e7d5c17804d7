import { isObject } from './json';

const HIDDEN = '[hidden]';

/** Shorter texts are no keys, and would be found everywhere. */
const SHORTEST = 8;

/** Finds secrets in each form that an answer may repeat them in. It is global, for `replace`. */
export type Secrets = RegExp;

/**
 * What finds the secrets as they are, in hex, in base64, and with any of their characters escaped: for a URL,
 * for JSON or for HTML, also several times over. How often is bounded, so that no text takes long to search.
 */
export function secretsOf(secrets: string[]): Secrets {
	const forms = secrets
		.filter(({ length }) => length >= SHORTEST)
		.flatMap((secret) => [
			[...secret].map(escaped).join(''),
			anyCase(Buffer.from(secret).toString('hex')),
			...base64(Buffer.from(secret)),
		]);
	// The longest first, so that no part of one is left over.
	forms.sort((a, b) => b.length - a.length);
	return new RegExp(forms.join('|') || '(?!)', 'gu');
}

const ENTITIES: Record<string, string> = {
	'"': 'quot',
	'&': 'amp',
	"'": 'apos',
	'<': 'lt',
	'>': 'gt',
};

/** One character: as it is, or in an escape of a URL, of JSON or of HTML. */
function escaped(character: string): string {
	const hex = character.codePointAt(0)!.toString(16);
	const percent = Buffer.from(character)
		.toString('hex')
		.replace(/../g, (byte) => `%(?:25){0,4}${anyCase(byte)}`);
	const forms = [
		literal(character),
		percent,
		`u${anyCase(hex.padStart(4, '0'))}`,
		`&#[xX]0{0,4}${anyCase(hex)};`,
		`&#0{0,4}${character.codePointAt(0)};`,
	];
	const entity = ENTITIES[character];
	if (entity) forms.push(`&${entity};`);
	return `\\\\{0,8}(?:${forms.join('|')})`;
}

const BASE64_SIGNS: Record<string, string> = { '+': '(?:[+-]|%2[bB])', '/': '(?:[/_]|%2[fF])' };

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
		return characters.map((one) => BASE64_SIGNS[one] ?? one).join('\\s{0,4}');
	});
}

function anyCase(hex: string): string {
	return hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

function literal(character: string): string {
	return character.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&');
}

/** A text with the secrets replaced. */
export function hide(text: string, secrets: Secrets): string {
	return text.replace(secrets, HIDDEN);
}

export function holdsSecret(text: string, secrets: Secrets): boolean {
	return text.search(secrets) >= 0;
}

/**
 * An answer's value with the secrets replaced in all its texts, numbers and names.
 * @param text that the value was parsed from: where neither a secret nor an escaped character is in it,
 * no text of the value can hold one
 */
export function hideSecrets<T>(value: T, text: string, secrets: Secrets): T {
	const mayHold = text.includes('\\') || holdsSecret(text, secrets);
	return mayHold ? (hideIn(value, secrets) as T) : value;
}

function hideIn(value: unknown, secrets: Secrets): unknown {
	if (typeof value === 'string') return hide(value, secrets);
	if (typeof value === 'number') return holdsSecret(String(value), secrets) ? HIDDEN : value;
	if (Array.isArray(value)) return value.map((inner) => hideIn(inner, secrets));
	if (!isObject(value)) return value;
	return Object.fromEntries(
		Object.entries(value).map(([name, inner]) => [hide(name, secrets), hideIn(inner, secrets)]),
	);
}
