import { judge } from '../../nodes/ResumeManagement/http/judge.ts';
import { readDisposition, safeFileName } from '../../nodes/ResumeManagement/output/fileName.ts';
import { locateFile, readMimeType } from '../../nodes/ResumeManagement/output/fileType.ts';
import { rejection } from '../../nodes/ResumeManagementTrigger/verify.ts';
import { parseJson } from '../../nodes/shared/json.ts';
import { valuesNamed } from '../../nodes/shared/names.ts';
import { holdsSecret, secretsOf } from '../../nodes/shared/secrets.ts';
import { settingsOf, ways } from '../support/proofs.mts';

/**
 * What a stranger sends must not keep n8n busy: each function over outside text takes time in
 * proportion to its length, at most so many times what looking at each character once takes.
 */
const BOUND = 500;
const LENGTH = 1_000_000;
const SECRET = 'sk_live_4242424242424242424242';
const secrets = secretsOf([SECRET, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw']);

// Thousands of megabytes, on a machine that may have other work.
jest.setTimeout(120_000);

const fill = (piece: string) => piece.repeat(Math.ceil(LENGTH / piece.length)).slice(0, LENGTH);
const fillers = [
	...[' ', '\n', '\t', '.', '. ', '/', '\\', '"', "'", ';', '=', '; ', '=;', ';a='],
	...['%', '%4', '%41', 'url', 'data', '.a', 'é', '漢'],
	...['A', 'f', 'A\n', '=\n', '\0', '\u202e', '\u0301\u0316', '\ud83d', '👩\u200d', '🇨🇭', 'file'],
	// JSON and numbers.
	...['[', '"\\', '{"a":"', '12345678901234567890,', '1.2.3.4.5.6.7.8.9.0'],
	// Of a secret: how it starts, and how its characters may be spelled.
	...[SECRET.slice(0, -1), 's\\\\\\\\', btoa(SECRET.slice(0, 15))],
	...['%25252525', '&#x0000', 'c \n\t '],
	// Of signatures.
	...['0', 't=', 'v1=', 'v1,', ` v1,${'A'.repeat(43)}`, `,v1=${'a'.repeat(64)}`],
];
const texts = [...fillers.map((filler) => `x${fill(filler)}!`), ...[' ', '.', 'A'].map(fill)];

const envelope = (errorCode: string, errorMessage = '') => {
	return { status: 'error', errorCode, errorMessage };
};
const thrown = (call: () => unknown) => {
	try {
		return call();
	} catch (error) {
		return error;
	}
};

/** What is called for each text. */
const functions: Record<string, Array<(text: string) => unknown>> = {
	readMimeType: ['', 'a/'].flatMap((head) => [
		(text: string) => readMimeType({ 'content-type': head + text }),
		(text: string) => readMimeType({ 'content-type': `${head}${text};` }),
	]),
	readDisposition: [
		...['', 'attachment; ', 'attachment; filename=', 'attachment; filename="', 'a; filename*='],
		..."attachment; filename*=UTF-8''|attachment; filename*=iso-8859-1''".split('|'),
	].flatMap((head) => [
		(text: string) => readDisposition({ 'content-disposition': head + text }),
		(text: string) => readDisposition({ 'content-disposition': `${head}${text}"=a` }),
	]),
	safeFileName: ['', 'a', 'a.'].map((head) => (text) => safeFileName(`${head}${text}.pdf`)),
	judge: [
		(text) => thrown(() => judge({ statusCode: 400, body: text })),
		(text) => thrown(() => judge({ statusCode: 200, body: envelope(`error code:${text}`) })),
		(text) => thrown(() => judge({ statusCode: 200, body: envelope('E', text) })),
	],
	locateFile: [
		...['', 'http://', 'A'.repeat(200)].flatMap((head) => [
			(text: string) => thrown(() => locateFile({ data: head + text }, '')),
			(text: string) => thrown(() => locateFile({ a: head + text }, 'a')),
		]),
		(text) => thrown(() => locateFile({ [text]: 'https://example.com', a: { [text]: 1 } }, '')),
	],
	parseJson: [parseJson],
	holdsSecret: [(text) => holdsSecret(text, secrets)],
	rejection: Object.entries(ways).flatMap(([way, { prove }]) => {
		const genuine = prove(btoa(SECRET), '', 1);
		return Object.keys(genuine).flatMap((name) =>
			['', 't=1,', 'sha256=', 'v1,'].map((before) => (text: string) => {
				const headers = { ...genuine, [name]: before + text };
				const delivery = { headers, body: Buffer.alloc(0), receivedAt: new Date(1_000) };
				return rejection(settingsOf(way, [btoa(SECRET)]), delivery);
			}),
		);
	}),
};

const milliseconds = (run: () => unknown) => {
	const start = performance.now();
	run();
	return performance.now() - start;
};

/** Looks at each character of a megabyte. */
const scan = () => {
	let sum = 0;
	const text = texts[0]!;
	for (let at = 0; at < text.length; at++) sum += text.charCodeAt(at);
	return sum;
};

/**
 * How much longer something takes than a scan, both measured next to each other; where that is long,
 * which other work on the machine may be the reason for, the shortest of three counts.
 */
function ratio(run: () => unknown): number {
	const once = () => milliseconds(run) / milliseconds(scan);
	const first = once();
	return first > BOUND ? Math.min(first, once(), once()) : first;
}

test.each(Object.entries(functions))('%s takes linear time', (_, calls) => {
	const slow = texts.flatMap((text) =>
		calls
			.map((call, index) => ({ text: text.slice(0, 10) + text.slice(-1), index, call }))
			.map(({ call, ...rest }) => ({ ...rest, times: ratio(() => call(text)) }))
			.filter(({ times }) => times > BOUND),
	);
	expect(slow).toEqual([]);
});

test('an answer of many or of deep parts is searched in linear time', () => {
	const depth = 150_000;
	const nested = JSON.parse(`${'{"data":'.repeat(depth)}1${'}'.repeat(depth)}`) as object;
	const wide = Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`file${i}`, 'x']));
	const list = Array.from({ length: 30_000 }, (_, i) => ({ url: `http://example.com/${i}` }));
	for (const answer of [nested, wide, { data: wide }, list, { data: list }]) {
		expect(ratio(() => thrown(() => locateFile(answer as never, '')))).toBeLessThan(BOUND);
	}
	// Names that are one but for their spelling.
	const name = (index: number) =>
		[...'abcdefghijklmnop'].map((letter, bit) => letter + (index & (1 << bit) ? '_' : '')).join('');
	const spelled = Object.fromEntries(Array.from({ length: 2 ** 16 }, (_, i) => [name(i), i]));
	expect(ratio(() => valuesNamed(spelled, ['abcdefghijklmnop']))).toBeLessThan(BOUND);
});

test('a text of too many values or levels is not parsed: it would take many times its memory', () => {
	const list = (count: number, value: string) => `[${Array(count).fill(value).join()}]`;
	const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
	expect(parseJson(list(120_000, '{}'))).toMatchObject({ value: expect.any(Array) as unknown });
	expect(parseJson(deep(500))).toMatchObject({ value: expect.any(Array) as unknown });
	const names = Array.from({ length: 3_000_000 }, (_, index) => `"a${index}":1`).join();
	const texts = [list(3_000_000, '1e999'), list(3_000_000, '{}'), `{${names}}`, deep(501)];
	for (const text of texts) expect(parseJson(text)).toEqual({ problem: 'tooLarge' });
	// What is in strings counts for nothing, and hides nothing.
	const prose = [',[{\\"'.repeat(600_000), '\\\\', '}'.repeat(1_000)].map((one) => `"${one}"`);
	expect(parseJson(`[${prose.join()}]`)).toMatchObject({ value: expect.any(Array) as unknown });
	expect(parseJson(`[${prose.join()},${deep(501)}]`)).toEqual({ problem: 'tooLarge' });
});
