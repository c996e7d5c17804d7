import { isObject } from './json';

const HIDDEN = '[hidden]';

/** Shorter texts are no keys, and would be found everywhere. */
const SHORTEST = 8;

/**
 * The forms in which an answer may repeat a secret: as it is, as JSON within a text, percent-encoded, in hex, and in base64
 * at each of the three offsets that it can have in a longer text, without the characters at its ends
 * that its neighbours take part in.
 */
export function formsOf(secrets: string[]): string[] {
	const forms = secrets
		.filter(({ length }) => length >= SHORTEST)
		.flatMap((secret) => {
			const bytes = Buffer.from(secret);
			const base64 = [0, 1, 2].flatMap((offset) => {
				const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
				const whole = encoded.slice(
					Math.ceil((offset * 4) / 3),
					Math.floor(((offset + bytes.length) * 4) / 3),
				);
				return [whole, whole.replaceAll('+', '-').replaceAll('/', '_')];
			});
			const hex = bytes.toString('hex');
			const percent = hex.replace(/../g, '%$&');
			return [
				secret,
				JSON.stringify(secret).slice(1, -1),
				encodeURIComponent(secret),
				hex,
				hex.toUpperCase(),
				percent,
				percent.toUpperCase(),
				...base64,
			];
		});
	// The longest first, so that no part of one is left over.
	return [...new Set(forms)].sort((a, b) => b.length - a.length);
}

/** A text with each of the forms replaced. */
export function hide(text: string, forms: string[]): string {
	return forms.reduce((rest, form) => rest.replaceAll(form, HIDDEN), text);
}

/**
 * An answer's value with the forms replaced in all its texts and names.
 * @param text that the value was parsed from: where neither a form nor an escaped character is in it,
 * no text of the value can hold one
 */
export function hideSecrets<T>(value: T, text: string, forms: string[]): T {
	const mayHold = text.includes('\\') || forms.some((form) => text.includes(form));
	return mayHold ? (hideIn(value, forms) as T) : value;
}

function hideIn(value: unknown, forms: string[]): unknown {
	if (typeof value === 'string') return hide(value, forms);
	if (Array.isArray(value)) return value.map((inner) => hideIn(inner, forms));
	if (!isObject(value)) return value;
	return Object.fromEntries(
		Object.entries(value).map(([name, inner]) => [hide(name, forms), hideIn(inner, forms)]),
	);
}
