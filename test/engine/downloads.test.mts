import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';

import fc from 'fast-check';
import { BinaryDataService } from 'n8n-core';

import { download as fixed } from '../support/parameters.mts';
import { http, json, type RawRequest } from '../support/rawServer.mts';
import { useRawService } from '../support/service.mts';

/**
 * What a download may be answered with: the answer itself, which is the service's, and what the service
 * points to, which is anybody's. Where an answer in JSON has its file: test/unit/fileTypes.test.mts. Of
 * names: test/unit/fileNames.test.mts.
 */

const FILE = `%PDF-1.7 ${'resume '.repeat(40)}`;
const PRIVATE_KEY = 'private-key-of-downloads';
const MEGABYTE = 1024 * 1024;
const NO_FILE = "The file's host sent no file (HTTP 500)";
const textFrom = (host: string) => `Text was received from ${host} in place of a file`;
const TEXT = textFrom('the service');
const HOSTED_TEXT = textFrom("the file's host");

/** A whole answer, or what is done with the socket. */
type Answer = string | Buffer | ((socket: Socket, request: RawRequest) => void);
type Headers = Record<string, string>;

let answer: Answer;
let hosted: Answer;
const give = (given: Answer, request: RawRequest, socket: Socket) => {
	if (typeof given === 'function') given(socket, request);
	else socket.end(given);
};
const service = useRawService((request, socket) => give(answer, request, socket), PRIVATE_KEY);
const fileHost = useRawService((request, socket) => give(hosted, request, socket));

const parameters = { ...fixed, binaryPropertyName: 'cv' };
/** @param options those of the node; `timeout` is one of Request Options */
const download = ({ timeout = 30_000, ...options }: { [name: string]: string | number } = {}) =>
	service.run({ ...parameters, options: { retries: 0, ...options }, requestOptions: { timeout } });
type Result = Awaited<ReturnType<typeof download>>;
/** The one item's file; its bytes as Latin-1. */
const stored = ({ outputs, error }: Result) => {
	expect(error).toBeUndefined();
	const [item, ...others] = outputs[0]!;
	expect(others).toEqual([]);
	const { data, fileName, mimeType } = item!.binary!.cv!;
	expect(item!.json).toEqual({ fileName, mimeType });
	return { text: Buffer.from(data, 'base64').toString('latin1'), fileName, mimeType };
};
/** Its error's message. */
const failed = ({ outputs, error }: Result) => {
	expect(outputs).toEqual([]);
	return error?.message;
};

/** A whole answer with HTTP 200. */
const ok = (headers: Headers, body: string | Buffer = '') => {
	const head = http(200, { 'Content-Length': `${Buffer.byteLength(body)}`, ...headers });
	return Buffer.concat([Buffer.from(head), Buffer.from(body as string)]);
};
const says = (body: unknown, headers: Headers = {}) => json(body, 200, headers);
const link = (path = '/files/cv.pdf') =>
	fileHost.credential().baseUrl.replace('127.0.0.1', 'localhost').replace('/v1', path);
const redirects = () => http(302, { Location: link() });
/** Unlike `once`, also where the client has reset it. */
const closing = (socket: Socket) =>
	new Promise<void>((resolve) => void socket.on('close', () => resolve()));
const data = (value: unknown) => ({ status: 'success', data: value });
const typed = (type: string) => ({ 'Content-Type': type });
const named = (name: string) => ({ 'Content-Disposition': `attachment; ${name}` });
const PDF = typed('application/pdf');
const ATTACHED = named('filename="cv"');
beforeEach(() => void (hosted = ok(PDF, FILE)));

test.each<[string, () => Answer]>([
	['its bytes', () => ok(PDF, FILE)],
	['a redirect to another host', redirects],
	['a link', () => says(data({ url: link() }))],
	['base64', () => says(data(btoa(FILE)))],
	['JSON of no known type', () => ok({}, JSON.stringify(data(link())))],
])('a file that comes as %s is stored', async (_, shape) => {
	answer = shape();
	const result = await download();
	expect(stored(result)).toEqual({ text: FILE, fileName: 'resume', mimeType: 'application/pdf' });
	expect(result.pairs).toEqual([[0]]);
	expect(service.requests).toHaveLength(1);
	expect(JSON.stringify(fileHost.requests)).not.toMatch(new RegExp(`${PRIVATE_KEY}|authenti`, 'i'));
	expect(JSON.stringify(result.run) + result.log).not.toContain(PRIVATE_KEY);
	expect(JSON.stringify(result.outputs)).not.toContain(link());
});

const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
test.each<[Headers, object, file: object]>([
	[typed(`${DOCX}; charset=binary`), {}, { mimeType: DOCX }],
	[typed('text html'), {}, { mimeType: 'application/octet-stream' }],
	[named('filename=".."'), {}, { fileName: 'resume' }],
	[named('filename=cv.pdf'), { fileName: '../mine.pdf' }, { fileName: 'mine.pdf' }],
])('the type or the name by %j and %j is %j', async (headers, options, file) => {
	answer = ok(headers, 'PK\x03\x04 and letters alone');
	expect(stored(await download(options as never))).toMatchObject(file);
});

test.each<Headers>([{}, ATTACHED])('File Path leads to a text, with %j', async (headers) => {
	answer = says({ a: 'Nathan Doe\nEngineer' }, headers);
	expect(stored(await download({ filePath: 'a' })).text).toBe('Nathan Doe\nEngineer');
});

const ERROR = { status: 'error', errorCode: 'resume-4', errorMessage: 'resume is gone' };
const GONE = 'The service answered: resume is gone (resume-4)';
const NOT_ATTACHED: Headers[] = [
	{},
	PDF,
	{ 'Content-Disposition': 'inline; filename="attachment"' },
];
const ALL: Headers[] = [...NOT_ATTACHED, ATTACHED];
test.each<[string, message: string, sentAs: Headers[]]>([
	['Resume not found', TEXT, [typed('text/plain'), typed('Text/CSV;a=b')]],
	['%PDF-', TEXT, [typed('application/xml'), typed('image/svg+xml')]],
	['<html>Sign in</html>', 'A web page was received in place of JSON', NOT_ATTACHED],
	['{"a":1}', 'The answer has no file', NOT_ATTACHED],
	['', 'The service sent an empty answer', ALL],
	[' \n', TEXT, ALL],
	[JSON.stringify(ERROR), GONE, ALL],
	[`\ufeff \r\n\t${JSON.stringify(ERROR)}\n`, GONE, ALL],
])('%j in place of a file is the error %j', async (body, message, sentAs) => {
	for (const headers of sentAs) {
		answer = ok(headers, body);
		expect(failed(await download())).toBe(message);
		answer = redirects();
		hosted = ok(headers, body);
		expect(failed(await download())).toBe(HOSTED_TEXT);
	}
});

describe('a secret', () => {
	const HELD =
		'The file holds a secret of the credential, and was not stored, to keep the secret safe';

	test('in a text that is an attachment is not stored', async () => {
		hosted = ok(ATTACHED, `<p>${btoa(`key ${PRIVATE_KEY}`)}</p>`);
		for (const way of [hosted, redirects()]) {
			answer = way;
			expect(failed(await download())).toBe(HELD);
		}
	});

	test('in a text at File Path is not stored', async () => {
		const text = `The key is ${PRIVATE_KEY}`;
		for (const a of [text, btoa(text.padEnd(200)).replace(/.{9}/g, '$&\n')]) {
			answer = says({ a });
			expect(failed(await download({ filePath: 'a' }))).toBe(HELD);
		}
	});

	test('of a link is not in its error', async () => {
		answer = redirects();
		hosted = http(403, typed('application/xml'), '<Error>Expired</Error>');
		const result = await download();
		expect(failed(result)).toBe("The file's host sent no file (HTTP 403)");
		expect(JSON.stringify(result.error) + result.log).not.toContain('/files/cv.pdf');
	});
});

describe('a redirect', () => {
	test.each([
		['../files/cv.pdf', '/v1/resume/files/cv.pdf'],
		['?part=1', '/v1/resume/1/download?part=1'],
	])('to %s is resolved against the address of the request', async (Location, path) => {
		answer = (socket, { index }) =>
			void socket.end(index === 0 ? http(302, { Location }) : http(200, {}, FILE));
		expect(stored(await download()).text).toBe(FILE);
		expect(service.sent()).toEqual(['/v1/resume/1/download', path].map((one) => `GET ${one}`));
		expect(JSON.stringify(service.requests[1]!.headers)).not.toContain(PRIVATE_KEY);
	});

	test('whose body stays open is followed, and its connection is closed', async () => {
		let closed: Promise<unknown> | undefined;
		answer = (socket) => {
			closed = closing(socket);
			socket.write(http(302, { Location: link(), 'Content-Length': '100' }, '<html>'));
		};
		expect(stored(await download()).text).toBe(FILE);
		await closed;
	});
});

const NOT_FOLLOWED = "The file's link can't be followed";
const SECRET =
	"The file's link holds a secret of the credential, and was not followed, to keep the secret safe";
const NO_TLS = "No secure connection to the file's host could be made";
const NOT_200 = 'The service answered with HTTP 304 in place of 200';
const at = (Location: string) => () => http(302, { Location });
test.each<[string, () => Answer, message: string]>([
	['data in a link', at('data:application/pdf;base64,AAAA'), NOT_FOLLOWED],
	['a local file', at('file:///etc/passwd'), NOT_FOLLOWED],
	['half a link', at('http://'), NOT_FOLLOWED],
	['a long link', () => says({ url: link(`/${'a'.repeat(8_192)}`) }), NOT_FOLLOWED],
	['a redirect with the key', () => at(link(`/cv?key=${PRIVATE_KEY}`))(), SECRET],
	['a link with the key', () => says({ url: link(`/cv?key=${PRIVATE_KEY}`) }), SECRET],
	['a circle', at('/again'), "The file's host redirected the request too often"],
	['304', () => http(304, { Location: '/cv' }), NOT_200],
	['206', () => http(206, PDF, FILE), 'Only a part of the file was sent (HTTP 206)'],
	['a host that refuses', at('http://127.0.0.1:1/cv'), "Could not connect to the file's host"],
	['an unknown host', at('http://no.invalid'), "The host name of the file's host is not known"],
	['a host without TLS', () => at(link().replace('http:', 'https:'))(), NO_TLS],
])('%s is an error of its own', async (name, shape, message) => {
	answer = shape();
	const result = await download();
	expect(failed(result)).toBe(message);
	expect(fileHost.requests).toEqual([]);
	const advice = name.includes('host') ? "Check the file's link" : '';
	expect((result.error as Error & { description: string }).description).toContain(advice);
});

test("a download is repeated after the time that the file's host asks for", async () => {
	answer = redirects();
	const times: number[] = [];
	hosted = (socket) => {
		const isFirst = times.push(Date.now()) === 1;
		socket.end(isFirst ? http(503, { 'Retry-After': '1' }) : ok(PDF, FILE));
	};
	expect(stored(await download({ retries: 1 })).text).toBe(FILE);
	expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(1_000);
});

test.each<[string, number, Headers, messages: string[]]>([
	['text', 200, {}, ['The answer is longer than 32 MB', HOSTED_TEXT]],
	['an attachment', 200, ATTACHED, Array(2).fill('The answer is longer than 32 MB')],
	['an error', 500, {}, ['The answer is longer than 32 MB', NO_FILE]],
])('%s without an end is not read to its end', async (_, status, headers, messages) => {
	for (const [index, message] of messages.entries()) {
		let closed: Promise<unknown> | undefined;
		hosted = (socket) => {
			closed = closing(socket);
			const length = { 'Content-Length': `${1024 * MEGABYTE}` };
			socket.write(http(status, { ...headers, ...length }, ' '.repeat(33 * MEGABYTE)));
		};
		answer = index === 0 ? hosted : says({ url: link() });
		expect(failed(await download())).toBe(message);
		await closed;
	}
});

describe('time', () => {
	const drip =
		(status: number, start: string, times: number, piece: string): Answer =>
		(socket) => {
			socket.write(http(status, { ...PDF, 'Content-Length': `${start.length + times}` }, start));
			let left = times;
			const timer = setInterval(() => {
				if (left-- > 0) socket.write(piece);
			}, 20);
			socket.on('close', () => clearInterval(timer));
		};

	test.each<[string, Answer]>([
		['an error that drips', drip(500, '%PDF-1.7 is no file here', 1e6, 'x')],
		['a file that stalls', drip(200, FILE, 1, '')],
		['blanks that drip', drip(200, '', 1e6, ' ')],
	])('%s ends with the timeout', async (_, given) => {
		answer = given;
		expect(failed(await download({ timeout: 300 }))).toBe('No answer from the service in time');
		hosted = given;
		answer = says({ url: link() });
		const message = (await download({ timeout: 300 })).error?.message;
		expect(message).toMatch(/^No answer from the file's host in time$|HTTP 500/);
	});

	test('a file that drips does not end with the timeout', async () => {
		answer = drip(200, '', 75, '\0');
		expect(stored(await download({ timeout: 700 })).text).toBe('\0'.repeat(75));
	});

	test('half a byte order mark is not taken for the start of a file', async () => {
		const page = Buffer.from('\ufeff<html>');
		answer = (socket) => {
			socket.write(http(200, { 'Content-Length': `${page.length}` }));
			setTimeout(() => socket.write(page.subarray(0, 1)), 50);
			setTimeout(() => socket.write(page.subarray(1)), 150);
		};
		expect(failed(await download())).toBe('A web page was received in place of JSON');
	});

	test("the time that n8n's store takes does not count", async () => {
		const { store } = BinaryDataService.prototype;
		const slow = jest.spyOn(BinaryDataService.prototype, 'store');
		slow.mockImplementation(async function (this: BinaryDataService, ...all) {
			await new Promise((resolve) => setTimeout(resolve, 700));
			return await store.apply(this, all);
		});
		answer = ok(PDF, FILE.repeat(10_000));
		const result = await download({ timeout: 300 });
		slow.mockRestore();
		expect(stored(result).text).toBe(FILE.repeat(10_000));
	});
});

test('a file that n8n can not store is an error, and its request ends', async () => {
	const full = jest.spyOn(BinaryDataService.prototype, 'store');
	full.mockRejectedValue(Object.assign(new Error('secret words'), { code: 'ENOSPC' }));
	let closed: Promise<unknown> | undefined;
	answer = (socket) => {
		closed = closing(socket);
		socket.write(http(200, { 'Content-Length': '1000' }, FILE));
	};
	expect(failed(await download())).toBe("The file could not be put into n8n's binary store");
	full.mockRestore();
	await closed;
});

describe('whatever comes', () => {
	const TEXTS = [
		'<html>Expired</html>',
		'{"a":1}',
		'[1]',
		'{\\rtf1 Ann}',
		JSON.stringify(ERROR),
		' ',
	];
	const OTHERS = ['%PDF-1.7', 'PK\x03\x04', 'Ann Doe, {engineer}', '"x"', '\0<html>'];
	const TEXT_TYPES = ['text/plain', 'Text/HTML; charset=utf-8', 'application/xhtml+xml'];
	const OTHER_TYPES = ['', 'application/pdf', 'application/vnd.xml-like', 'json'];
	const some = (list: string[]) => fc.constantFrom(...list);
	const random = fc.record({
		before: some(['', '', '\ufeff', ' \r\n\t', `\ufeff${' '.repeat(3_000)}`]),
		content: fc.oneof(
			fc.record({ isText: fc.constant(true), start: some(TEXTS), end: fc.constant('') }),
			fc.record({ isText: fc.constant(false), start: some(OTHERS), end: fc.string() }),
		),
		type: fc.oneof(
			fc.record({ isText: fc.constant(true), name: some([...TEXT_TYPES, 'a/b+json', 'text/xml']) }),
			fc.record({ isText: fc.constant(false), name: some(OTHER_TYPES) }),
		),
		attachment: fc.boolean(),
		gzip: fc.boolean(),
		way: fc.constantFrom('answer', 'redirect', 'link'),
		framing: fc.constantFrom('length', 'chunked', 'closed', 'cut'),
		status: fc.constantFrom(200, 200, 200, 200, 201, 203, 206, 404),
		pieces: fc.array(fc.constantFrom(1, 2, 3, 20, 5_000), { minLength: 1, maxLength: 8 }),
	});

	test('only files are stored, byte for byte', async () => {
		const counted = { stored: 0, refused: 0 };
		const property = fc.asyncProperty(random, async (given) => {
			const { content, framing, before, status } = given;
			const text = before + content.start + content.end;
			const body = given.gzip ? gzipSync(text) : Buffer.from(text);
			const isChunked = framing === 'chunked';
			const length = `Content-Length: ${body.length + (framing === 'cut' ? 1 : 0)}`;
			const head = [
				`HTTP/1.1 ${status} Status`,
				'Connection: close',
				given.type.name && `Content-Type: ${given.type.name}`,
				given.attachment && 'Content-Disposition: attachment',
				given.gzip && 'Content-Encoding: gzip',
				isChunked ? 'Transfer-Encoding: chunked' : framing !== 'closed' && length,
			];
			const sent: Answer = async (socket) => {
				socket.write(`${head.filter(Boolean).join('\r\n')}\r\n\r\n`);
				for (let at = 0, turn = 0; at < body.length; turn++) {
					const piece = body.subarray(at, at + given.pieces[turn % given.pieces.length]!);
					at += piece.length;
					if (isChunked) socket.write(`${piece.length.toString(16)}\r\n`);
					socket.write(piece);
					if (isChunked) socket.write('\r\n');
					await new Promise(setImmediate);
				}
				socket.end(isChunked ? '0\r\n\r\n' : '');
			};
			hosted = sent;
			answer = { answer: sent, link: says({ url: link() }), redirect: redirects() }[given.way]!;
			const result = await download();
			const isWhole = framing !== 'cut' && status === 200;
			const isText = content.isText || given.type.isText;
			const mayBeText = given.attachment && content.start !== ' ' && !text.includes('resume-4');
			if (isWhole && (!isText || mayBeText)) {
				counted.stored++;
				expect(stored(result).text).toBe(Buffer.from(text).toString('latin1'));
			} else {
				counted.refused++;
				expect(failed(result)).toBeTruthy();
			}
		});
		await fc.assert(property, { numRuns: Number(process.env.DOWNLOADS ?? 300) });
		expect(Math.min(counted.stored, counted.refused)).toBeGreaterThan(20);
	}, 600_000);

	test('nobody else is asked, and the key goes to the service alone', async () => {
		const names = fc.constantFrom(
			...['data', 'candidate', 'website', 'profile', 'profileUrl', 'owner', 'files', 'avatarUrl'],
			...['status', 'callback_url', 'thumbnailUrl', 'id', '__proto__'],
		);
		const untold = () => fc.constantFrom(link('/untold'), link(`/untold?${PRIVATE_KEY}`));
		const values = fc.letrec<{ value: unknown; record: { data?: unknown } }>((tie) => ({
			value: fc.oneof({ maxDepth: 3 }, fc.constant('x'), fc.array(tie('value')), tie('record')),
			record: fc.dictionary(names, fc.oneof(tie('value'), untold())),
		}));
		// As `data`, a link is the file.
		const isElsewhere = ({ data: inner }: { data?: unknown }) =>
			typeof inner !== 'string' &&
			typeof (inner as { data?: unknown } | undefined)?.data !== 'string';
		const record = values.record.filter(isElsewhere);
		const told = fc.constantFrom('', link('/told'), link(`/told?key=${PRIVATE_KEY}`));
		const property = fc.asyncProperty(record, told, async (body, url) => {
			fileHost.requests.length = 0;
			answer = says(url ? { ...body, url } : body);
			await download();
			expect(fileHost.sent()).toEqual(url === link('/told') ? ['GET /told'] : []);
			expect(JSON.stringify(fileHost.requests)).not.toContain(PRIVATE_KEY);
		});
		await fc.assert(property, { numRuns: 150 });
	});
});
