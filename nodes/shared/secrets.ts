import { isObject } from './json';

/** Replaces a secret. */
export const HIDDEN = '[hidden]';

/** Characters of the shortest secret that is searched for. A shorter text would be found in many places. */
const SHORTEST_SECRET = 8;

/** Texts to search for: the secrets as they are, in JSON, percent-encoded, and in base64. */
export type Secrets = readonly string[];

/** Blanks around a secret, and the prefix of Standard Webhooks, are no part of it. */
export function secretsOf(secrets: unknown[]): Secrets {
	const texts = secrets
		.filter((secret) => typeof secret === 'string')
		.map((secret) => withoutPrefix(secret.trim()))
		.filter(({ length }) => length >= SHORTEST_SECRET)
		.flatMap((secret) => [
			secret,
			JSON.stringify(secret).slice(1, -1),
			// Through bytes, as half a surrogate pair can't be percent-encoded.
			encodeURIComponent(Buffer.from(secret).toString()),
			startOfBase64(secret),
		]);
	// The longest first: a secret may begin with another.
	return [...new Set(texts)].sort((one, other) => other.length - one.length);
}

/** Returns the Base64 of a Standard Webhooks secret, which often follows `whsec_`; any other secret as it is. */
export function withoutPrefix(secret: string): string {
	return secret.replace(/^whsec_/, '');
}

/** Returns the part of the base64 that stays the same if another text follows the secret, as a colon does in `Basic …`. */
function startOfBase64(secret: string): string {
	const bytes = Buffer.from(secret);
	return bytes.subarray(0, bytes.length - (bytes.length % 3)).toString('base64');
}

/** Searches all strings and property names of a value. */
export function holdsSecret(value: unknown, secrets: Secrets): boolean {
	if (typeof value === 'string') return secrets.some((secret) => value.includes(secret));
	if (Array.isArray(value)) return value.some((inner) => holdsSecret(inner, secrets));
	if (!isObject(value)) return false;
	return Object.keys(value).some((name) => {
		return holdsSecret(name, secrets) || holdsSecret(value[name], secrets);
	});
}

/** Replaces secrets in all strings and property names. Cut strings only afterwards: a part of a secret is not found. */
export function hideSecrets<T>(value: T, secrets: Secrets): T {
	// Most responses hold none, and need no copy.
	return holdsSecret(value, secrets) ? (replaceIn(value, secrets) as T) : value;
}

function replaceIn(value: unknown, secrets: Secrets): unknown {
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
