import { createHmac } from 'node:crypto';

import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';

import {
	rejection,
	signedId,
	standardKey,
	type Headers,
	type Verification,
} from '../../nodes/ResumeManagementTrigger/verify.ts';

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
	rejection(verification, [SECRET], headers, body, NOW);

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
		expect(rejection(byHeader, [SECRET], headers, BODY, NOW)).toMatch(/missing/);
	});

	test.each([[[]], [['']], [['', '']]])('lets nobody in while the secrets are %j', (secrets) => {
		const headers = { 'x-webhook-secret': '', 'x-webhook-signature': sign(BODY, 'hex', '') };
		expect(rejection(byHeader, secrets, headers, BODY, NOW)).toMatch(/No webhook/);
		expect(rejection(signed(), secrets, headers, BODY, NOW)).toMatch(/No webhook/);
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

	test.each(['', 'yesterday', '-5', '1e9', '+1', '1.5', '0x10', '1795262400000'])(
		'is refused as %j',
		(value) => {
			const headers = { ...at(now), 'x-webhook-timestamp': value };
			expect(check(signed({ timestamp }), headers)).toMatch(/not a Unix time/);
		},
	);
});

test('a timestamp is refused where the tolerance is no number', () => {
	const headers = {
		'x-webhook-timestamp': '978307200',
		'x-webhook-signature': sign(`978307200.${BODY.toString()}`),
	};
	const verification = signed({ timestamp: { ...timestamp, tolerance: NaN } });
	expect(check(verification, headers)).toMatch(/too old/);
});

/** As they were published, by those whose customers have to check them. */
describe('published vectors', () => {
	test('HMAC: GitHub', () => {
		// https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
		const verification: Verification = {
			kind: 'hmac',
			headerName: 'X-Hub-Signature-256',
			encoding: 'hex',
			prefix: 'sha256=',
		};
		const headers = {
			'x-hub-signature-256':
				'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
		};
		const secret = "It's a Secret to Everybody";
		const judge = (body: string) =>
			rejection(verification, [secret], headers, Buffer.from(body), NOW);
		expect(judge('Hello, World!')).toBeUndefined();
		expect(judge('Hello, World')).toBe('The signature is wrong.');
	});

	test('Standard Webhooks', () => {
		// The example of Svix, whose scheme the specification has taken over; it names the headers svix-….
		// https://docs.svix.com/receiving/verifying-payloads/how-manual
		const headers = {
			'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
			'webhook-timestamp': '1614265330',
			'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
		};
		const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
		const judge = (body: string, now = 1614265330) =>
			rejection(standard, [secret], headers, Buffer.from(body), now * 1000);
		expect(judge('{"test": 2432232314}')).toBeUndefined();
		expect(judge('{"test": 2432232315}')).toBe('The signature is wrong.');
		expect(judge('{"test": 2432232314}', 1614265330 + 301)).toMatch(/too old/);
	});
});

const standard: Verification = { kind: 'standardWebhooks', tolerance: 300 };
const inOneHeader: Verification = {
	kind: 'timestampedSignature',
	headerName: 'X-Webhook-Signature',
	tolerance: 300,
};
const secretBytes = fc.uint8Array({ minLength: 24, maxLength: 64 });
const toSecret = (bytes: Uint8Array) => `whsec_${Buffer.from(bytes).toString('base64')}`;
const ids = fc.stringMatching(/^[\x21-\x7e]{1,40}$/);
const offsets = fc.integer({ min: -600, max: 600 });

describe('Standard Webhooks', () => {
	const headersOf = (secret: string, id: string, seconds: number, body: string): Headers => ({
		'webhook-id': id,
		'webhook-timestamp': String(seconds),
		'webhook-signature': new Webhook(secret).sign(id, new Date(seconds * 1000), body),
	});

	test('what the library has signed is accepted within the tolerance, and nothing else', () => {
		fc.assert(
			fc.property(
				secretBytes.map(toSecret),
				ids,
				offsets,
				fc.string({ unit: 'grapheme' }),
				fc.constantFrom('none', 'id', 'time', 'body', 'secret', 'signature'),
				(secret, id, offset, body, changed) => {
					const seconds = NOW / 1000 + offset;
					const headers = headersOf(secret, id, seconds, body);
					const other = { ...headers };
					if (changed === 'id') other['webhook-id'] = `${id}x`;
					if (changed === 'time') other['webhook-timestamp'] = String(seconds + 1);
					if (changed === 'signature') other['webhook-signature'] = 'v1,AAAA';
					const sent = Buffer.from(changed === 'body' ? `${body} ` : body);
					const own = changed === 'secret' ? toSecret(Buffer.alloc(32, 7)) : secret;
					const accepted = rejection(standard, [own], other, sent, NOW) === undefined;
					expect(accepted).toBe(changed === 'none' && Math.abs(offset) <= 300);
				},
			),
			{ numRuns: 500 },
		);
	});

	const bytes = Buffer.alloc(32, 3).toString('base64');
	const right = headersOf(bytes, 'msg_1', NOW / 1000, BODY.toString());
	const signature = String(right['webhook-signature']);
	const judge = (headers: Headers, secrets = [bytes]) =>
		rejection(standard, secrets, headers, BODY, NOW);

	test.each([
		['the last of several', `v1a,${'A'.repeat(88)} v2,x v1,AAAA ${signature}`],
		['the first of several', `${signature} v1,AAAA`],
		['without padding', signature.replace('=', '')],
	])('a signature is accepted as %s', (_, value) => {
		expect(judge({ ...right, 'webhook-signature': value })).toBeUndefined();
	});

	test.each([
		['of another version', signature.replace('v1,', 'v1a,')],
		['without a version', signature.replace('v1,', '')],
		['in hex', `v1,${Buffer.from(signature.slice(3), 'base64').toString('hex')}`],
		['joined to another', `v1,AAAA,${signature.slice(3)}`],
	])('a signature is refused %s', (_, value) => {
		expect(judge({ ...right, 'webhook-signature': value })).toBe('The signature is wrong.');
	});

	test.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])(
		'is refused without %s',
		(name) => {
			expect(judge({ ...right, [name]: undefined })).toMatch(/missing|not a Unix time/);
		},
	);

	test.each(['no base64 at all', 'whsec_', 'whsec_!', '%%%'])(
		'the secret %j lets nobody in',
		(secret) => {
			expect(standardKey(secret)).toBeUndefined();
			const empty = createHmac('sha256', '')
				.update(`msg_1.${NOW / 1000}.${BODY}`)
				.digest('base64');
			expect(judge({ ...right, 'webhook-signature': `v1,${empty}` }, [secret])).toMatch(/wrong/);
		},
	);

	test('has a signed ID, and no other kind has', () => {
		expect(signedId(standard, right)).toBe('msg_1');
		expect(signedId(inOneHeader, right)).toBeUndefined();
	});
});

describe('a header with time and signature', () => {
	const at = (seconds: number, ...more: string[]) => ({
		'x-webhook-signature': [
			`t=${seconds}`,
			...more,
			`v1=${sign(`${seconds}.${BODY.toString()}`)}`,
		].join(','),
	});
	const now = NOW / 1000;

	test.each([0, -300, 300])('is accepted %i seconds off', (offset) => {
		expect(check(inOneHeader, at(now + offset))).toBeUndefined();
	});

	test.each([-301, 301])('is refused %i seconds off', (offset) => {
		expect(check(inOneHeader, at(now + offset))).toMatch(/too old/);
	});

	test('may have other parts, and several signatures', () => {
		expect(check(inOneHeader, at(now, 'v0=abc', `v1=${'0'.repeat(64)}`, 'x'))).toBeUndefined();
		const spaced = { 'x-webhook-signature': at(now)['x-webhook-signature'].replace(',', ' , ') };
		expect(check(inOneHeader, spaced)).toBeUndefined();
	});

	test.each([
		['another body', at(now), Buffer.from('{}')],
		[
			'a time that was changed',
			{ 'x-webhook-signature': at(now)['x-webhook-signature'].replace(/^t=./, 't=9') },
			BODY,
		],
		['two times', at(now, `t=${now}`), BODY],
		['no time', { 'x-webhook-signature': `v1=${sign(BODY)}` }, BODY],
		[
			'a signature of another version',
			{ 'x-webhook-signature': at(now)['x-webhook-signature'].replace('v1', 'v0') },
			BODY,
		],
		['nothing', {}, BODY],
	])('is refused with %s', (_, headers: Headers, body) => {
		expect(check(inOneHeader, headers as Record<string, string>, body)).toBeDefined();
	});
});

test('an older secret is accepted beside the present one, in every way to sign', () => {
	const [older, present, other] = [1, 2, 3].map((byte) => toSecret(Buffer.alloc(32, byte)));
	const seconds = NOW / 1000;
	const body = BODY.toString();
	const ways: Array<[Verification, (secret: string) => Headers]> = [
		[byHeader, (secret) => ({ 'x-webhook-secret': secret })],
		[signed(), (secret) => ({ 'x-webhook-signature': sign(body, 'hex', secret) })],
		[
			standard,
			(secret) => ({
				'webhook-id': 'msg_1',
				'webhook-timestamp': String(seconds),
				'webhook-signature': new Webhook(secret).sign('msg_1', new Date(NOW), body),
			}),
		],
		[
			inOneHeader,
			(secret) => ({
				'x-webhook-signature': `t=${seconds},v1=${sign(`${seconds}.${body}`, 'hex', secret)}`,
			}),
		],
	];
	for (const [verification, headersOf] of ways) {
		const judge = (secret: string) =>
			rejection(verification, [present!, older!], headersOf(secret), BODY, NOW);
		expect([verification.kind, judge(present!), judge(older!), judge(other!)]).toEqual([
			verification.kind,
			undefined,
			undefined,
			expect.stringMatching(/wrong/),
		]);
	}
});

describe('a hostile header', () => {
	const fastest = (work: () => void) =>
		Math.min(
			...Array.from({ length: 3 }, () => {
				const started = performance.now();
				work();
				return performance.now() - started;
			}),
		);
	/** Each character is looked at once. */
	const scan = (text: string) => {
		let sum = 0;
		for (let index = 0; index < text.length; index++) sum = (sum + text.charCodeAt(index)) | 0;
		return sum;
	};
	const pieces = [
		'=',
		' ',
		',',
		'0',
		't=',
		'v1=',
		'v1,',
		` v1,${'A'.repeat(44)}`,
		`,v1=${'a'.repeat(64)}`,
	];
	const kinds = [
		byHeader,
		signed({ prefix: 'sha256=' }),
		signed({ encoding: 'base64' }),
		signed({ encoding: 'base64', timestamp }),
		standard,
		inOneHeader,
	].map((verification) => [verification.kind, verification] as const);

	test.each(kinds)('takes no longer than in proportion to its length (%s)', (_, verification) => {
		for (const length of [15_000, 120_000, 1_000_000]) {
			for (const piece of pieces) {
				for (const before of ['', `t=${NOW / 1000},`, 'v1,']) {
					const text = `${before}${piece.repeat(length / piece.length)}x`;
					const headers = {
						'x-webhook-secret': text,
						'x-webhook-signature': text,
						'x-webhook-timestamp': text,
						'webhook-id': text,
						'webhook-timestamp': verification === standard ? String(NOW / 1000) : text,
						'webhook-signature': text,
					};
					const secrets = [toSecret(Buffer.alloc(32, 1))];
					const judge = () => rejection(verification, secrets, headers, BODY, NOW);
					expect(judge()).toBeDefined();
					const isInProportion = () => fastest(judge) < 500 * fastest(() => scan(text)) + 5;
					// A busy machine may have had other work each time.
					const tries = Array.from({ length: 10 }, () => isInProportion);
					expect([piece, length, tries.some((attempt) => attempt())]).toEqual([
						piece,
						length,
						true,
					]);
				}
			}
		}
	});
});
