import { signedId, whyRejected } from '../../nodes/ResumeManagementTrigger/verify.ts';
import type { Delivery, VerificationSettings } from '../../nodes/ResumeManagementTrigger/verify.ts';
import { settingsOf, sign, ways } from '../support/proofs.mts';

const NOW = 1_795_219_200;
const BODY = '{"event":"Resume Section Saved"}';
const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const WRONG = 'The signature is wrong.';
const UNTIMELY = 'The timestamp, in seconds, is not within 5 minutes of now.';

type Headers = Delivery['headers'];
const genuine = (way: string): Headers => ways[way]!.prove(SECRET, BODY, NOW);
const receivedAt = new Date(NOW * 1000);
const judge = (settings: VerificationSettings, headers: Headers, body: string | Buffer = BODY) =>
	whyRejected(settings, { headers, body: Buffer.from(body), receivedAt });

describe.each(Object.keys(ways))('%s', (way) => {
	const settings = settingsOf(way, [SECRET]);
	const wrong = way === 'header' ? 'The secret is wrong.' : WRONG;

	test.each([undefined, '', ' ', [SECRET, SECRET]])('names a header that is %j', (value) => {
		for (const name of Object.keys(genuine(way))) {
			const text = judge(settings, { ...genuine(way), [name]: value })!.toLowerCase();
			expect(text).toBe(`the header ${name} is missing.`);
		}
	});

	test('refuses a proof that is truncated, too long or any other text', () => {
		const [name, proof] = Object.entries(genuine(way)).at(-1) as [string, string];
		for (const text of [proof.slice(0, -2), proof.slice(1), `${proof}00`, 'x', 'sha256=', 'v1,']) {
			const reason = judge(settings, { ...genuine(way), [name]: text })!.slice(0, wrong.length);
			expect([text, reason]).toEqual([text, wrong]);
		}
	});

	test.each(['', 'Müller 完了', BODY])('accepts a proof of its body and time only: %j', (body) => {
		for (const offset of [-301, -300, 0, 300, 301]) {
			const headers = ways[way]!.prove(SECRET, body, NOW + offset);
			const isTimely = way !== 'standardWebhooks' || Math.abs(offset) <= 300;
			expect(judge(settings, headers, body)).toBe(isTimely ? undefined : UNTIMELY);
			const other = way === 'header' ? undefined : WRONG;
			if (isTimely) expect(judge(settings, headers, `${body} `)).toBe(other);
		}
	});
});

test('a secret may come after Bearer and more than one blank (RFC 9110, §11.4)', () => {
	const [name, secret] = Object.entries(genuine('header'))[0]!;
	const headers = { [name]: `Bearer  ${String(secret)}` };
	expect(judge(settingsOf('header', [SECRET]), headers)).toBeUndefined();
});

test('a signature is of the bytes of a body, with any text as its key', () => {
	const bytes = Buffer.from([0, 0x80, 0xff, 0xc3]);
	const headers = { 'x-proof': `sha256=${sign(bytes, 'schlüssel 完了')}` };
	const settings = settingsOf('hmac', ['schlüssel 完了']);
	expect(judge(settings, headers, bytes)).toBeUndefined();
	expect(judge(settings, headers, bytes.toString())).toBe(WRONG);
});

const standard = String(genuine('standardWebhooks')['webhook-signature']);
const inHex = sign(BODY, SECRET);
const base64 = sign(BODY, SECRET, 'base64');
const CHOOSE = 'choose that in Signature Encoding.';
test.each<[string, string, string, string | undefined]>([
	['hmac', 'in capitals', `sha256=${inHex.toUpperCase()}`, undefined],
	['hmac', 'after a blank', `sha256= ${inHex}`, undefined],
	['hmac', 'in another encoding', `sha256=${base64}`, `${WRONG} It is in Base64: ${CHOOSE}`],
	['hmac in base64', 'in another encoding', inHex, `${WRONG} It is in hex: ${CHOOSE}`],
	['hmac', 'of each encoding', `sha256=${sign('', SECRET)},sha256=${base64}`, WRONG],
	['hmac in base64', 'without padding', base64.replace('=', ''), undefined],
	['hmac in base64', 'for URLs', Buffer.from(base64, 'base64').toString('base64url'), undefined],
	['standardWebhooks', 'without padding', standard.replace('=', ''), undefined],
	['standardWebhooks', 'last', `v1a,${'A'.repeat(88)} v2,x v1,AAAA ${standard}`, undefined],
	['standardWebhooks', 'of another version', standard.replace('v1,', 'v2,'), WRONG],
	['standardWebhooks', 'without a version', standard.replace('v1,', ''), WRONG],
	['standardWebhooks', 'joined to another', `v1,AAAA,${standard.slice(3)}`, WRONG],
])('%s: a signature %s', (way, _, value, sentence) => {
	const name = Object.keys(genuine(way)).at(-1)!;
	expect(judge(settingsOf(way, [SECRET]), { ...genuine(way), [name]: value })).toBe(sentence);
});

/** Replaces A by the genuine signature and B by another one, with prefixes as they are. */
const several = (way: string, header: string) => {
	const encoding = way === 'hmac' ? 'hex' : 'base64';
	const right = way === 'standardWebhooks' ? standard.slice(3) : sign(BODY, SECRET, encoding);
	return header.replace(/\b[AB]\b/g, (one) => (one === 'A' ? right : sign('', SECRET, encoding)));
};
const judgeSeveral = (way: string, header: string, signaturePrefix?: string) => {
	const name = Object.keys(genuine(way)).at(-1)!;
	const own = settingsOf(way, [SECRET]);
	const settings = signaturePrefix === undefined ? own : { ...own, signaturePrefix };
	return judge(settings, { ...genuine(way), [name]: several(way, header) });
};

// With senders that rotate their secret, such as PagerDuty, Paddle and SPS Commerce. Node.js joins lines with ", ".
test.each<[way: string, prefix: string | undefined, headers: string[]]>([
	[
		'hmac',
		'v1=',
		['v1=A,v1=B', 'v1=B,v1=A', 'v1=B, v1=B, v1=A', 'v1=A\tv1=B', 't=1,v1=B,v1=A,v0=B'],
	],
	[
		'hmac',
		'sha256=',
		['sha256=A, sha256=B', 'sha256=B, sha256=A', 'sha1=B, sha256=A', ',sha256=A,'],
	],
	['hmac', 'h1=', ['ts=1;h1=B;h1=A', 'ts=1; h1=A; h1=B']],
	['hmac', 'SHA256-', ['SHA256-B; SHA256-A']],
	['hmac', 'HMAC', ['HMAC A', 'HMAC B, HMAC A']],
	['hmac', 'keyId=x, sig=', ['keyId=x, sig=A', 'keyId=x, sig=B, keyId=x, sig=A']],
	['hmac', '', ['A B', 'B A', 'A,B', 'B, A', 'B;A', 't=1,A']],
	['hmac in base64', '', ['A B', 'B, A', 'B,A']],
	['hmac in base64', 'v1=', ['v1=B,v1=A', 'v1=A, v1=B']],
	['hmac in base64', 'v1,', ['v1,A', 'v1,B v1,A', 'v1,A, v1,B']],
	[
		'standardWebhooks',
		undefined,
		['v1,A v1,B', 'v1,B v1,A', 'v1,A, v1,B', 'v1,B, v1,A', 'v1,B v1a,B, v1,A v1,B'],
	],
])('%s after %j: one right signature among several is enough', (way, prefix, headers) => {
	for (const header of headers) {
		expect([header, judgeSeveral(way, header, prefix)]).toEqual([header, undefined]);
		const wrong = header.replace(/\bA\b/g, 'B');
		expect([wrong, judgeSeveral(way, wrong, prefix)]).toEqual([wrong, WRONG]);
	}
});

const before = (prefix: string) =>
	`The signature is wrong. The header has "${prefix}" before it: enter that in Signature Prefix.`;
const NOTHING_BEFORE =
	'The signature is wrong. The header has no text before it: clear Signature Prefix.';
test.each<[way: string, prefix: string, header: string, sentence: string]>([
	['hmac', '', 'sha256=A', before('sha256=')],
	['hmac', '', 'sha256=B, sha256=A', before('sha256=')],
	['hmac', '', 't=1,v1=A', before('v1=')],
	['hmac', '', 'HMAC-SHA256:A', before('HMAC-SHA256:')],
	['hmac', 'sha256=', 'SHA256=A', before('SHA256=')],
	['hmac', 'sha256=', 'sha256-A', before('sha256-')],
	['hmac', 'sha256=', 'A', NOTHING_BEFORE],
	['hmac in base64', '', 'sha256=A', before('sha256=')],
	['hmac in base64', 'v1', 'v1,A', NOTHING_BEFORE],
	// Signatures of SHA-1 and SHA-512, and texts that are none.
	...['sha1=', 'sha512='].map((prefix): [string, string, string, string] => {
		const length = prefix === 'sha1=' ? 40 : 128;
		return ['hmac', '', prefix + 'a'.repeat(length), WRONG];
	}),
	['hmac', '', `${'x'.repeat(40)}=A`, WRONG],
	['hmac', 'v1=', 'v0=B,v1=B', WRONG],
])('%s after %j: %s is refused with the prefix to enter', (way, prefix, header, sentence) => {
	expect(judgeSeveral(way, header, prefix)).toBe(sentence);
});

test('Standard Webhooks signs the ID and the time, which is a number of seconds', () => {
	const settings = settingsOf('standardWebhooks', [SECRET]);
	const headers = genuine('standardWebhooks');
	const changed = (name: string, value: string) => judge(settings, { ...headers, [name]: value });
	expect(changed('webhook-id', 'msg_2')).toBe(WRONG);
	expect(changed('webhook-timestamp', String(NOW + 1))).toBe(WRONG);
	for (const time of ['yesterday', '-5', '1e9', 'NaN', 'Infinity', `${NOW}000`]) {
		expect([time, changed('webhook-timestamp', time)]).toEqual([time, UNTIMELY]);
	}
	const delivery = { headers, body: Buffer.alloc(0), receivedAt };
	expect(signedId(settings, delivery)).toBe('msg_1');
	expect(signedId({ ...settings, verification: 'hmac' }, delivery)).toBe('');
});
