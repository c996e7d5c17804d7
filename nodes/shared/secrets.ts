import { isObject } from './json';

/** Replaces a secret. */
export const HIDDEN = '[hidden]';

/**
 * Characters of the shortest secret that is searched for. A shorter text would be found in many
 * places.
 */
const MIN_SECRET_LENGTH = 8;

/** What secrets look like in texts: see SECURITY.md. */
export type SecretSpellings = readonly string[];

/** Returns the spellings to search texts for. What is no string, or too short, is left out. */
export function spellingsOf(secrets: unknown[]): SecretSpellings {
	const spellings = secrets
		.filter((secret) => typeof secret === 'string')
		.map((secret) => withoutPrefix(secret.trim()))
		.filter((secret) => secret.length >= MIN_SECRET_LENGTH)
		.flatMap((secret) => [
			secret,
			JSON.stringify(secret).slice(1, -1),
			// Through bytes, because half of a surrogate pair can't be percent-encoded.
			encodeURIComponent(Buffer.from(secret).toString()),
			startOfBase64(secret),
		]);
	// The longest first: a secret may begin with another.
	return [...new Set(spellings)].sort((a, b) => b.length - a.length);
}

/**
 * Returns a secret of Standard Webhooks without its prefix, which is not part of it, and may be
 * missing in a text.
 */
export function withoutPrefix(secret: string): string {
	return secret.replace(/^(v1,)?whsec_/, '');
}

/**
 * Returns the part of the base64 that any text after the secret leaves as it is: of `abcd`, the
 * `YWJj` that `abcd:` has, too.
 */
function startOfBase64(secret: string): string {
	const base64 = Buffer.from(secret).toString('base64');
	return base64.endsWith('=') ? base64.slice(0, -4) : base64;
}

/**
 * Replaces secrets in all strings and property names. Cut strings only afterwards: a part of a
 * secret is not found.
 */
export function hideSecrets<T>(value: T, secrets: SecretSpellings): T {
	// Most responses hold none, and need no copy.
	return holdsSecret(value, secrets) ? (replaceIn(value, secrets) as T) : value;
}

/** Searches all strings and property names of a value. */
function holdsSecret(value: unknown, secrets: SecretSpellings): boolean {
	if (typeof value === 'string') return secrets.some((secret) => value.includes(secret));
	if (Array.isArray(value)) return value.some((inner) => holdsSecret(inner, secrets));
	if (!isObject(value)) return false;
	return Object.keys(value).some((name) => {
		return holdsSecret(name, secrets) || holdsSecret(value[name], secrets);
	});
}

function replaceIn(value: unknown, secrets: SecretSpellings): unknown {
	if (typeof value === 'string') {
		return secrets.reduce((shown, secret) => shown.replaceAll(secret, HIDDEN), value);
	}
	if (Array.isArray(value)) return value.map((inner) => replaceIn(inner, secrets));
	if (!isObject(value)) return value;
	const entries = Object.entries(value).map(([name, inner]) => {
		return [replaceIn(name, secrets), replaceIn(inner, secrets)] as [string, unknown];
	});
	return Object.fromEntries(entries);
}
