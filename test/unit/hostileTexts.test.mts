import { judge } from '../../nodes/ResumeManagement/answer/judge.ts';
import { safeFileName } from '../../nodes/ResumeManagement/download/fileName.ts';
import { readDisposition, readMimeType } from '../../nodes/ResumeManagement/download/headers.ts';
import { locateFile } from '../../nodes/ResumeManagement/download/locate.ts';

/**
 * What a stranger sends must not keep n8n busy: each function over outside text takes time in
 * proportion to its length, at most so many times what looking at each character once takes.
 */
const BOUND = 500;
const LENGTH = 1_000_000;

// Thousands of megabytes, on a machine that may have other work.
jest.setTimeout(120_000);

const fill = (piece: string) => piece.repeat(Math.ceil(LENGTH / piece.length)).slice(0, LENGTH);
const fillers = [
	...[
		' ',
		'\n',
		'\t',
		'.',
		'. ',
		'/',
		'\\',
		'"',
		"'",
		';',
		'=',
		'; ',
		'=;',
		';a=',
		'%',
		'%4',
		'%41',
	],
	...[
		'A',
		'f',
		'A\n',
		'=\n',
		'\0',
		'\u202e',
		'\u0301\u0316',
		'\ud83d',
		'👩\u200d',
		'🇨🇭',
		'file',
		'url',
	],
	...['data', '.a', 'é', '漢'],
];
const texts = [...fillers.map((filler) => `x${fill(filler)}!`), ...[' ', '.', 'A'].map(fill)];

const envelope = (errorCode: string, errorMessage = '') => ({
	status: 'error',
	errorCode,
	errorMessage,
});
const thrown = (call: () => unknown) => {
	try {
		return call();
	} catch (error) {
		return error;
	}
};

/** What is called for each text. */
const functions: Record<string, Array<(text: string) => unknown>> = {
	readMimeType: [
		readMimeType,
		(text) => readMimeType(`a/${text}`),
		(text) => readMimeType(`${text};`),
	],
	readDisposition: [
		...['', 'attachment; ', 'attachment; filename=', 'attachment; filename="', 'a; filename*='],
		..."attachment; filename*=UTF-8''|attachment; filename*=iso-8859-1''".split('|'),
	].flatMap((head) => [
		(text: string) => readDisposition(head + text),
		(text: string) => readDisposition(`${head}${text}"=a`),
	]),
	safeFileName: [
		safeFileName,
		(text) => safeFileName(`a${text}.pdf`),
		(text) => safeFileName(`a.${text}`),
	],
	judge: [
		(text) => thrown(() => judge({ statusCode: 400, body: text })),
		(text) => thrown(() => judge({ statusCode: 200, body: envelope(`error code:${text}`) })),
		(text) => thrown(() => judge({ statusCode: 200, body: envelope('E', text) })),
	],
	locateFile: [
		(text) => locateFile({ content: text }),
		(text) => locateFile({ fileUrl: `http://${text}` }),
		(text) => locateFile({ file: { content: 'A'.repeat(128), fileName: text } }),
		(text) => locateFile({ [text]: 'https://example.com', a: { [text]: 1 } }),
	],
};

const milliseconds = (run: () => unknown) => {
	const start = performance.now();
	run();
	return performance.now() - start;
};

/** Looks at each character of a megabyte. */
function scan(): number {
	let sum = 0;
	const text = texts[0]!;
	for (let at = 0; at < text.length; at++) sum += text.charCodeAt(at);
	return sum;
}

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

test('an answer that is nested as deep as a megabyte allows is searched in linear time', () => {
	const depth = 150_000;
	const nested = JSON.parse(`${'{"data":'.repeat(depth)}1${'}'.repeat(depth)}`) as object;
	const list = JSON.parse(`${'['.repeat(depth)}1${']'.repeat(depth)}`) as object;
	const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`file${i}`, 'x']));
	const many = { files: Array.from({ length: 100_000 }, (_, i) => `http://example.com/${i}`) };
	for (const answer of [nested, list, wide, many]) {
		expect(ratio(() => locateFile(answer as never))).toBeLessThan(BOUND);
	}
});
