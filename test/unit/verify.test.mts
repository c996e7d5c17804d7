import { createHmac } from 'node:crypto';

import fc from 'fast-check';

import { rejection, type Verification } from '../../nodes/ResumeManagementTrigger/verify.ts';

const SECRET = 'whsec_0123456789';
const NOW = Date.UTC(2026, 10, 21);
const BODY = Buffer.from('{"event":"Resume Section Saved"}');

const byHeader: Verification = { kind: 'header', headerName: 'X-Webhook-Secret' };
const signed = (rest: Partial<Extract<Verification, { kind: 'hmac' }>> = {}): Verification => ({
	kind: 'hmac',
	headerName: 'X-Webhook-Signature',
	encoding: 'hex',
	prefix: '',
	...rest,
});
const timestamp = { headerName: 'X-Webhook-Timestamp', tolerance: 300 };
const sign = (body: Buffer | string, encoding: 'hex' | 'base64' = 'hex', secret = SECRET) =>
	createHmac('sha256', secret).update(body).digest(encoding);

const check = (verification: Verification, headers: Record<string, string>, body = BODY) =>
	rejection(verification, SECRET, headers, body, NOW);

test('without verification, everything is taken', () => {
	expect(check({ kind: 'none' }, {})).toBeUndefined();
});

describe('a secret in a header', () => {
	test('is accepted when it is the secret', () => {
		expect(check(byHeader, { 'x-webhook-secret': SECRET })).toBeUndefined();
	});

	test.each([
		['missing', {}],
		['empty', { 'x-webhook-secret': '' }],
		['wrong', { 'x-webhook-secret': 'whsec_9876543210' }],
		['shorter', { 'x-webhook-secret': SECRET.slice(0, -1) }],
		['longer', { 'x-webhook-secret': `${SECRET}0` }],
		['in another header', { 'x-secret': SECRET }],
	])('is refused when it is %s', (_, headers) => {
		expect(check(byHeader, headers)).toMatch(/missing|wrong/);
	});

	test('is refused when it is sent twice', () => {
		const headers = { 'x-webhook-secret': [SECRET, SECRET] };
		expect(rejection(byHeader, SECRET, headers, BODY, NOW)).toMatch(/missing/);
	});

	test('lets nobody in while no secret is set', () => {
		expect(rejection(byHeader, '', { 'x-webhook-secret': '' }, BODY, NOW)).toMatch(/No webhook/);
		const headers = { 'x-webhook-signature': sign(BODY, 'hex', '') };
		expect(rejection(signed(), '', headers, BODY, NOW)).toMatch(/No webhook/);
	});

	test('nothing but the secret is accepted', () => {
		fc.assert(
			fc.property(fc.string(), (text) => {
				fc.pre(text.trim() !== SECRET);
				return check(byHeader, { 'x-webhook-secret': text }) !== undefined;
			}),
		);
	});
});

describe('a signature', () => {
	test.each([
		['hex', signed(), sign(BODY)],
		['hex in capitals', signed(), sign(BODY).toUpperCase()],
		['hex with a prefix', signed({ prefix: 'sha256=' }), `sha256=${sign(BODY)}`],
		['base64', signed({ encoding: 'base64' }), sign(BODY, 'base64')],
		[
			'base64 without padding',
			signed({ encoding: 'base64' }),
			sign(BODY, 'base64').replace(/=+$/, ''),
		],
	])('is accepted as %s', (_, verification, signature) => {
		expect(check(verification, { 'x-webhook-signature': signature })).toBeUndefined();
	});

	test.each([
		['of another secret', signed(), sign(BODY, 'hex', 'other')],
		['of another body', signed(), sign(`${BODY} `)],
		['cut short', signed(), sign(BODY).slice(0, -2)],
		['too long', signed(), `${sign(BODY)}00`],
		['without its prefix', signed({ prefix: 'sha256=' }), sign(BODY)],
		['in another encoding', signed({ encoding: 'base64' }), sign(BODY)],
		['that is no signature', signed(), 'zz'],
	])('is refused %s', (_, verification, signature) => {
		expect(check(verification, { 'x-webhook-signature': signature })).toBe(
			'The signature is wrong.',
		);
	});

	test('of any bytes is accepted, and of no others', () => {
		const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array));
		fc.assert(
			fc.property(bytes, bytes, (body, other) => {
				const headers = { 'x-webhook-signature': sign(body) };
				const same = body.equals(other);
				return (
					check(signed(), headers, body) === undefined &&
					(check(signed(), headers, other) === undefined) === same
				);
			}),
		);
	});
});

describe('a signed timestamp', () => {
	const at = (seconds: number) => ({
		'x-webhook-timestamp': String(seconds),
		'x-webhook-signature': sign(`${seconds}.${BODY.toString()}`),
	});
	const now = NOW / 1000;

	test.each([0, -300, 300])('is accepted %i seconds off', (offset) => {
		expect(check(signed({ timestamp }), at(now + offset))).toBeUndefined();
	});

	test.each([-301, 301])('is refused %i seconds off', (offset) => {
		expect(check(signed({ timestamp }), at(now + offset))).toMatch(/too old/);
	});

	test('is refused when it was changed', () => {
		const headers = { ...at(now), 'x-webhook-timestamp': String(now + 1) };
		expect(check(signed({ timestamp }), headers)).toBe('The signature is wrong.');
	});

	test.each(['', 'yesterday', '-5', '1e9'])('is refused as %j', (value) => {
		const headers = { ...at(now), 'x-webhook-timestamp': value };
		expect(check(signed({ timestamp }), headers)).toMatch(/not a Unix time/);
	});
});
