import { isObject } from './json';

/** Replaces a secret. */
export const HIDDEN = '[hidden]';

/** Characters. A shorter text is no key, and would be found in many places. */
const SHORTEST = 8;

/** Spellings of the secrets. */
export type Secrets = readonly string[];

/**
 * Returns the spellings in which the secrets are searched for. Each search is plain and takes time in
 * proportion to the text, whatever the secret. Blanks around a secret, and the prefix of Standard Webhooks, are
 * no part of it.
 */
export function secretsOf(secrets: unknown[]): Secrets {
	const spellings = secrets
		.filter((secret) => typeof secret === 'string')
		.map((secret) => withoutPrefix(secret.trim()))
		.filter(({ length }) => length >= SHORTEST)
		.flatMap(spellingsOf);
	return [...new Set(spellings)];
}

/** Returns the Base64 of a Standard Webhooks secret, which often follows `whsec_`; any other secret as it is. */
export function withoutPrefix(secret: string): string {
	return secret.replace(/^whsec_/, '');
}

function spellingsOf(secret: string): string[] {
	const bytes = Buffer.from(secret);
	const json = JSON.stringify(secret).slice(1, -1);
	const hex = bytes.toString('hex');
	const component = encodeURIComponent(bytes.toString());
	const encoded = [
		component,
		// As RFC 3986 asks for.
		component.replace(/[!'()*]/g, (one) => `%${Buffer.from(one).toString('hex').toUpperCase()}`),
		new URLSearchParams({ secret }).toString().slice('secret='.length),
	];
	return [
		secret,
		json,
		// As PHP writes it.
		json.replaceAll('/', '\\/'),
		...encoded,
		...encoded.map((text) => text.replace(/%../g, (escape) => escape.toLowerCase())),
		hex,
		hex.toUpperCase(),
		...base64Of(bytes, 'base64'),
		...base64Of(bytes, 'base64url'),
	];
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

/** Characters of a secret that are searched for. V8 searches for longer periodic texts in quadratic time. */
const SEARCHED = 250;

export function holdsSecret(text: string | Buffer, secrets: Secrets): boolean {
	return secrets.some((secret) => text.includes(secret.slice(0, SEARCHED)));
}

/**
 * Hides the secrets in a text, and cuts the text afterwards: a part of a secret could not be found any more. All are
 * searched for in the same text, because a spelling may begin within another one.
 */
export function hideAndCut(text: string, secrets: Secrets, characters = Infinity): string {
	const places = secrets.flatMap((secret) => placesOf(secret, text));
	let hidden = '';
	let copied = 0;
	for (const [start, end] of places.sort(([one], [other]) => one - other)) {
		if (start >= copied) hidden += text.slice(copied, start) + HIDDEN;
		copied = Math.max(copied, end);
	}
	return (hidden + text.slice(copied)).slice(0, characters);
}

function placesOf(secret: string, text: string): Array<[start: number, end: number]> {
	const beginning = secret.slice(0, SEARCHED);
	const places: Array<[number, number]> = [];
	let end = 0;
	for (let start = text.indexOf(beginning); start >= 0; start = text.indexOf(beginning, end)) {
		end = start + beginning.length;
		while (end < start + secret.length && text[end] === secret[end - start]) end++;
		places.push([start, end]);
	}
	return places;
}

/** Returns the value with the secrets hidden in all its texts, numbers and property names. */
export function hideSecrets<T>(value: T, secrets: Secrets): T {
	const texts: string[] = [];
	collectTexts(value, texts);
	// One search in all texts takes a fraction of the time of a search in each.
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
