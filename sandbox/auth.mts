import { createHmac, timingSafeEqual } from 'node:crypto';

import { SANDBOX_KEYS } from './seed.mts';
import type { User } from './store.mts';

/**
 * Signs the user tokens. It is public like everything else about the sandbox: its tokens open
 * nothing, they only have to be told from private keys and from forged tokens.
 */
const TOKEN_SECRET = 'sandbox-user-token-secret';

const TOKEN_LIFETIME_IN_SECONDS = 60 * 60;

/** Whom a request comes from, by the value of its `Authentication` header. */
export type Caller = 'live' | 'unarranged' | 'userToken' | 'unknown';

/** @param authentication the header's value, `Bearer <PRIVATE_API_KEY>` (specification §5) */
export function identifyCaller(authentication: string | undefined): Caller {
	const token = /^Bearer (\S+)$/.exec(authentication ?? '')?.[1] ?? '';
	if (token === SANDBOX_KEYS.live) return 'live';
	if (token === SANDBOX_KEYS.unarranged) return 'unarranged';
	return isUserToken(token) ? 'userToken' : 'unknown';
}

/**
 * @param now Unix timestamp in seconds
 * @returns a JSON Web Token (HS256) that names the user and ends after an hour
 */
export function createUserToken(user: User, now: number): string {
	const claims = {
		sub: user.id,
		email: user.email,
		iat: now,
		exp: now + TOKEN_LIFETIME_IN_SECONDS,
	};
	const content = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
	return `${content}.${sign(content).toString('base64url')}`;
}

function isUserToken(token: string): boolean {
	const [header, claims, signature, ...rest] = token.split('.');
	if (!header || !claims || !signature || rest.length > 0) return false;
	const given = Buffer.from(signature, 'base64url');
	const expected = sign(`${header}.${claims}`);
	return given.length === expected.length && timingSafeEqual(given, expected);
}

function encode(value: object): string {
	return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function sign(content: string): Buffer {
	return createHmac('sha256', TOKEN_SECRET).update(content).digest();
}
