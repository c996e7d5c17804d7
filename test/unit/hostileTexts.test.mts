import { isBaseUrl } from '../../credentials/ResumeManagementApi.credentials.ts';
import { judge } from '../../nodes/ResumeManagement/http/judge.ts';
import * as names from '../../nodes/ResumeManagement/responses/fileNames.ts';
import { locateFile } from '../../nodes/ResumeManagement/responses/locateFile.ts';
import { whyRejected } from '../../nodes/ResumeManagementTrigger/verify.ts';
import { parseJson, validStart, valuesNamed } from '../../nodes/shared/json.ts';
import { hideSecrets, spellingsOf } from '../../nodes/shared/secrets.ts';
import * as text from '../../nodes/shared/text.ts';
import { settingsOf, ways } from '../support/proofs.mts';

/** Every function over outside text takes linear time, four times as long for four times the text: a stranger writes it. */
const LENGTH = 10_000;
const SECRET = 'sk_live_4242424242424242424242';
/** The second one is a part of many texts, and the third nearly so. */
const secrets = spellingsOf([SECRET, ' .'.repeat(64), `${'A'.repeat(100)}b${'A'.repeat(100)}`]);

const fill = (piece: string, length: number) =>
	piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
// prettier-ignore
const fillers = [
	' ', '\n', '\t', '.', '. ', '/', '\\', '"', "'", ';', '=', '; ', '=;', ';a=',
	'%', '%4', '%41', 'url', 'data', '.a', 'é', '漢',
	'A', 'f', 'A\n', '=\n', '\0', '\u202e', '\u0301\u0316', '\ud83d', '👩\u200d', '🇨🇭', 'file',
	'[', '"\\', '{"a":"', '12345678901234567890,', '1.2.3.4.5.6.7.8.9.0',
	// The start of a secret, and spellings of its characters.
	SECRET.slice(0, -1), 's\\\\\\\\', btoa(SECRET.slice(0, 15)),
	'%25252525', '&#x0000', 'c \n\t ',
	'0', 'eyJ', 't=', 'v1=', 'v1,', ` v1,${'A'.repeat(43)}`, `,v1=${'a'.repeat(64)}`,
];
const texts: Array<(length: number) => string> = [
	...fillers.map((filler) => (length: number) => `x${fill(filler, length)}!`),
	...[' ', '.', 'A'].map((filler) => (length: number) => fill(filler, length)),
];

const thrown = (call: () => unknown) => {
	try {
		return call();
	} catch (error) {
		return error;
	}
};

/** Spells one name in a way of its own for each number. */
const spelled = (index: number) =>
	[...'abcdefghijklmnop'].map((letter, bit) => letter + (index & (1 << bit) ? '_' : '')).join('');

const judged = (statusCode: number, body: unknown) =>
	thrown(() => judge({ statusCode, headers: {}, body }));

// prettier-ignore
const HEADS = [
	'', 'attachment; ', 'attachment; filename=', 'attachment; filename="', 'a; filename*=',
	"attachment; filename*=UTF-8''", "attachment; filename*=iso-8859-1''",
];

const functions: Record<string, Array<(text: string) => unknown>> = {
	trimInvisible: [text.trimInvisible],
	findInvisible: [text.findInvisible],
	normalize: [(given) => text.normalize(given, 'NFKC')],
	isPlaceholder: ['', '<', '__', '$'].map((head) => (tail) => text.isPlaceholder(head + tail)),
	standsForNone: ['', '<', '@{', 'n'].map((head) => (tail) => text.standsForNone(head + tail)),
	isBaseUrl: ['https://a/', 'https://'].map((head) => (tail) => isBaseUrl(`${head}${tail}/v1`)),
	normalizeEmail: ['a@', 'a@b.'].map((head) => (tail) => text.normalizeEmail(head + tail)),
	partBesideEmail: ['', 'a@', 'a@b'].map((head) => (tail) => text.partBesideEmail(head + tail)),
	validStart: [validStart],
	mimeTypeOf: ['', 'a/'].flatMap((head) => [
		(text: string) => names.mimeTypeOf({ 'content-type': head + text }),
		(text: string) => names.mimeTypeOf({ 'content-type': `${head}${text};` }),
	]),
	dispositionOf: HEADS.flatMap((head) => [
		(text: string) => names.dispositionOf({ 'content-disposition': head + text }),
		(text: string) => names.dispositionOf({ 'content-disposition': `${head}${text}"=a` }),
	]),
	safeFileName: ['', 'a', 'a.'].map((head) => (text) => names.safeFileName(`${head}${text}.pdf`)),
	judge: [
		(text) => judged(400, text),
		(text) => judged(200, { status: 'error', errorCode: `error code:${text}` }),
		(text) => judged(200, { status: 'error', errorCode: 'E', errorMessage: text }),
	],
	locateFile: [
		...['', 'http://', 'A'.repeat(200)].flatMap((head) => [
			(text: string) => thrown(() => locateFile({ data: head + text }, '')),
			(text: string) => thrown(() => locateFile({ a: head + text }, 'a')),
			(text: string) => thrown(() => locateFile({ a: `${head}${text}<` }, 'a')),
		]),
		(text) => thrown(() => locateFile({ [text]: 'https://example.com', a: { [text]: 1 } }, '')),
	],
	parseJson: [parseJson, (text) => parseJson(`1.${text.slice(1, -1)}1`)],
	hideSecrets: [(text) => hideSecrets({ [text]: [text] }, secrets)],
	whyRejected: Object.entries(ways).flatMap(([way, { prove }]) => {
		const genuine = prove(btoa(SECRET), '', 1);
		return Object.keys(genuine).flatMap((name) =>
			['', 't=1,', 'sha256=', 'v1,'].map((before) => (text: string) => {
				const headers = { ...genuine, [name]: before + text };
				const delivery = { headers, body: Buffer.alloc(0), receivedAt: new Date(1_000) };
				return whyRejected(settingsOf(way, [btoa(SECRET)]), delivery);
			}),
		);
	}),
};

type Prepare = (length: number) => () => unknown;

/** CPU time of this thread in milliseconds: other work on the machine does not count. Linux counts in steps of up to 4. */
function cpuTime(run: () => unknown, times = 1): number {
	const start = process.threadCpuUsage();
	for (let time = 0; time < times; time++) run();
	const { user, system } = process.threadCpuUsage(start);
	return (user + system) / 1_000;
}

/** Returns whether runs with four times the input take more than so many times as long as four times the runs, six times. */
function grows(prepare: Prepare, length: number, runs: number, most: number): boolean {
	const [once, more] = [prepare(length), prepare(4 * length)];
	// A single time may include a compilation, or the collection of what was freed.
	return [1, 2, 3, 4, 5, 6].every(() => cpuTime(more, runs) > most * cpuTime(once, 4 * runs));
}

/**
 * Returns whether the time for `LENGTH` more than doubles, beyond the four times of four times the input. V8 keeps an array of
 * more than 16,000 characters in memory of its own, and a machine may take several times as long from there on: so it counts
 * only if the time also grows before. Where `an + bn²` doubles from `LENGTH` on, it grows by a third from a quarter of it on.
 */
function isSlow(prepare: Prepare): boolean {
	if (cpuTime(prepare(4 * LENGTH)) < 10) return false;
	return grows(prepare, LENGTH, 5, 2) && grows(prepare, LENGTH / 4, 50, 4 / 3);
}

test('quadratic time is noticed', () => {
	const trimEnd = (length: number) => () => `${' '.repeat(length / 6)}!`.replace(/ +$/, '');
	// A busy machine may slow down one of the two.
	expect([1, 2, 3].some(() => isSlow(trimEnd))).toBe(true);
});

test.each(Object.entries(functions))('%s takes linear time', (_, calls) => {
	const pairs = texts.flatMap((text) => calls.map((call, index) => ({ text, index, call })));
	const slow = pairs.find(({ text, call }) =>
		isSlow((length) => call.bind(undefined, text(length))),
	);
	expect(slow && [slow.text(10), slow.index]).toBe(undefined);
});

test.each<[name: string, build: (parts: number[]) => unknown]>([
	['nested data', ({ length }) => JSON.parse(`${'{"data":'.repeat(length)}1${'}'.repeat(length)}`)],
	['many names', (parts) => Object.fromEntries(parts.map((part) => [`file${part}`, 'x']))],
	['many links', (parts) => parts.map((part) => ({ url: `http://example.com/${part}` }))],
	['spellings of one name', (parts) => Object.fromEntries(parts.map((part) => [spelled(part), 1]))],
])('the search in %s takes linear time', (_, build) => {
	const search = (length: number) => {
		const data = build([...Array(length / 4).keys()]);
		return () => {
			for (const body of [data, { data }]) thrown(() => locateFile(body as never, ''));
			valuesNamed(data, ['abcdefghijklmnop']);
		};
	};
	expect(isSlow(search)).toBe(false);
});
