import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';

import fc from 'fast-check';

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
const NO_FILE = "The file's host sent no file (HTTP 200)";

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
	['JSON in UTF-16', () => ok({}, Buffer.from(`\ufeff${JSON.stringify(data(link()))}`, 'utf16le'))],
])('a file that comes as %s is stored', async (_, shape) => {
	answer = shape();
	const result = await download();
	expect(stored(result)).toEqual({ text: FILE, fileName: 'resume', mimeType: 'application/pdf' });
	expect(result.pairs).toEqual([[0]]);
	expect(service.requests).toHaveLength(1);
	expect(JSON.stringify(fileHost.requests)).not.toContain(PRIVATE_KEY);
	expect(JSON.stringify(result.run) + result.log).not.toContain(PRIVATE_KEY);
	expect(JSON.stringify(result.outputs)).not.toContain(link());
});

const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
test.each<[Headers, object, file: object]>([
	[typed(`${DOCX}; charset=binary`), {}, { mimeType: DOCX }],
	[typed('text/html'), {}, { mimeType: 'application/zip' }],
	[named(`filename*=UTF-8''..; filename="fallback.pdf"`), {}, { fileName: 'fallback.pdf' }],
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
test.each<[string, message: string, sentAs?: Headers[]]>([
	['Resume not found', 'The answer is not JSON', [{}, PDF]],
	['<html>Sign in</html>', 'A web page was received in place of JSON', [{}, PDF]],
	['{"a":1}', 'The answer holds no file', [{}, PDF]],
	['', 'The service sent an empty answer'],
	[JSON.stringify(ERROR), GONE],
	[`\ufeff \r\n\t${JSON.stringify(ERROR)}\n`, GONE],
	[JSON.stringify({ status: 'ERROR', errorMessage: 'resume is gone (resume-4)' }), GONE],
])('%j in place of a file is the error %j', async (body, message, sentAs = [{}, PDF, ATTACHED]) => {
	for (const headers of sentAs) {
		answer = ok(headers, body);
		expect(failed(await download())).toBe(message);
		answer = redirects();
		hosted = ok(headers, body);
		expect(failed(await download())).toBe(NO_FILE);
	}
});

describe('a secret', () => {
	const HELD = 'The file holds a secret of the credential, and was not stored to keep it safe';

	test.each<[string, string | Buffer]>([
		['in base64', `<p>${btoa(`key ${PRIVATE_KEY}`)}</p>`],
		['in UTF-16', Buffer.from(`\ufeff${PRIVATE_KEY}`, 'utf16le')],
	])('in a text, %s, is not stored', async (_, body) => {
		hosted = ok(ATTACHED, body);
		for (const way of [hosted, redirects()]) {
			answer = way;
			expect(failed(await download())).toBe(HELD);
		}
	});

	test('in a text at File Path is not stored', async () => {
		const text = `The key is ${PRIVATE_KEY}`;
		for (const a of [text, btoa(text.padEnd(200))]) {
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
		['/files/cv.pdf', '/files/cv.pdf'],
		['?part=1', '/v1/resume/1/download?part=1'],
	])('to %s is resolved against the address of the request', async (Location, path) => {
		answer = (socket, { index }) =>
			void socket.end(index === 0 ? http(302, { Location }) : http(200, {}, FILE));
		expect(stored(await download()).text).toBe(FILE);
		expect(service.sent()).toEqual(['/v1/resume/1/download', path].map((one) => `GET ${one}`));
		expect(JSON.stringify(service.requests[1]!.headers)).not.toContain(PRIVATE_KEY);
	});

	test.each(['data:application/pdf;base64,AAAA', 'file:///etc/passwd', 'http://'])(
		'to %s is not followed',
		async (Location) => {
			answer = http(302, { Location });
			expect(failed(await download())).toBe("The file's link can't be followed");
		},
	);

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

describe('an answer in words without an end is left', () => {
	let closed: Promise<unknown> | undefined;
	let sent = 0;
	/** A gigabyte, to somebody who stays. */
	const flood =
		(status: number, headers: Headers): Answer =>
		(socket) => {
			closed = closing(socket);
			sent = 0;
			socket.write(http(status, { ...headers, 'Content-Length': `${1024 * MEGABYTE}` }));
			const more = () => {
				while (!socket.destroyed && sent < 1024 * MEGABYTE) {
					sent += BLANKS.length;
					if (!socket.write(BLANKS)) return void socket.once('drain', more);
				}
				socket.end();
			};
			more();
		};
	const BLANKS = Buffer.alloc(65_536, ' ');
	const host = "the file's host";
	const longer = (from: string, megabytes: number) =>
		`The answer of ${from} is longer than ${megabytes} MB, and is not a file`;
	test.each<[string, from: string, status: number, Headers, message: string]>([
		['JSON', 'the service', 200, {}, longer('the service', 32)],
		['a page', host, 200, {}, longer(host, 1)],
		['an attachment', host, 200, ATTACHED, longer(host, 32)],
		['an error', host, 500, {}, "The file's host sent no file (HTTP 500)"],
	])('%s, of %s', async (_, from, status, headers, message) => {
		hosted = flood(status, headers);
		answer = from === host ? says({ fileUrl: link() }) : hosted;
		expect(failed(await download())).toBe(message);
		await closed;
		expect(sent).toBeLessThan(64 * MEGABYTE);
	});
});

describe('time', () => {
	const drip =
		(status: number, type: string, start: string, times = Infinity, piece = 'x'): Answer =>
		(socket) => {
			const length = times < Infinity ? `Content-Length: ${start.length + times}\r\n` : '';
			socket.write(`HTTP/1.1 ${status} Status\r\n${length}Content-Type: ${type}\r\n\r\n${start}`);
			let left = times;
			const timer = setInterval(() => {
				if (left-- > 0) socket.write(piece);
			}, 20);
			socket.on('close', () => clearInterval(timer));
		};

	test('an error that drips ends with the timeout', async () => {
		hosted = drip(500, 'application/pdf', '%PDF-1.7 is no file here');
		answer = hosted;
		expect(failed(await download({ timeout: 300 }))).toBe('No answer from the service in time');
		answer = says({ fileUrl: link() });
		expect(failed(await download({ timeout: 300 }))).toBe("No answer from the file's host in time");
	});

	test('a file that is none by its start, and drips, does not end with the timeout', async () => {
		const start = 'SQLite format 3 and words';
		answer = drip(200, 'application/octet-stream', start, 75, '\0');
		expect(stored(await download({ timeout: 700 })).text).toBe(start + '\0'.repeat(75));
	});
});

describe('whatever comes', () => {
	const pieces = [...'é漢💼\n', 'Resume', ' not found', '<html>', '{"a":1}'];
	const some = fc.array(fc.constantFrom(...pieces), { maxLength: 2_000 });
	const jsons = ['{"error":"expired"}', '[]', '"x"', 'null', JSON.stringify(data({ id: 1 }))];
	const texts = fc.oneof(
		some.map((all) => `No: ${all.join('')}`),
		fc.constantFrom(...jsons),
	);
	const encoding = fc.constantFrom<(text: string) => Buffer>(
		(text) => Buffer.from(text),
		(text) => Buffer.from(`\ufeff${text}`),
		(text) => Buffer.from(text.replace(/[^\0-\xff]/g, 'ä'), 'latin1'),
		(text) => Buffer.from(text, 'utf16le'),
		(text) => Buffer.from(`\ufeff${text}`, 'utf16le'),
		(text) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
	);
	const words = fc
		.tuple(texts, encoding)
		.map(([text, encode]) => ({ isFile: false, body: encode(text) }));
	const starts = ['%PDF-', 'PK\x03\x04', '{\\rtf', 'GIF89a', 'II*\0', `${'x'.repeat(4_000)}\x01`];
	const files = fc
		.tuple(fc.constantFrom(...starts), fc.uint8Array({ maxLength: 20_000 }))
		.map(([start, end]) => ({
			isFile: true,
			body: Buffer.concat([Buffer.from(start, 'latin1'), end]),
		}));
	const types = ['pdf', 'octet-stream', 'json', 'xml'].map((type) => `application/${type}`);
	const random = fc.record({
		content: fc.oneof(words, files),
		type: fc.constantFrom('', 'text/plain', 'text/html', 'image/png', ...types),
		attachment: fc.boolean(),
		gzip: fc.boolean(),
		way: fc.constantFrom('answer', 'redirect', 'link'),
		framing: fc.constantFrom('length', 'chunked', 'closed', 'cut', 'part'),
		pieces: fc.array(fc.constantFrom(1, 2, 3, 20, 5_000), { minLength: 1, maxLength: 8 }),
	});

	test('only files are stored, byte for byte', async () => {
		const counted = { stored: 0, refused: 0 };
		const property = fc.asyncProperty(random, async (given) => {
			const { content, framing } = given;
			const body = given.gzip ? gzipSync(content.body) : content.body;
			const isChunked = framing === 'chunked';
			const length = `Content-Length: ${body.length + (framing === 'cut' ? 1 : 0)}`;
			const head = [
				`HTTP/1.1 ${framing === 'part' ? '206 Partial Content' : '200 OK'}`,
				'Connection: close',
				given.type && `Content-Type: ${given.type}`,
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
			const isWhole = framing !== 'cut' && framing !== 'part';
			const isText = given.attachment && !/pdf|png/.test(given.type);
			if (isWhole && (content.isFile || isText)) {
				counted.stored++;
				expect(stored(result).text === content.body.toString('latin1')).toBe(true);
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
		// As `data` itself, a link is the file.
		const record = values.record.filter((one) => typeof one.data !== 'string');
		const told = fc.constantFrom('', link('/told'), link(`/told?key=${PRIVATE_KEY}`));
		const property = fc.asyncProperty(record, told, async (body, fileUrl) => {
			fileHost.requests.length = 0;
			answer = says(fileUrl ? { ...body, fileUrl } : body);
			await download();
			expect(fileHost.sent()).toEqual(fileUrl === link('/told') ? ['GET /told'] : []);
			expect(JSON.stringify(fileHost.requests)).not.toContain(PRIVATE_KEY);
		});
		await fc.assert(property, { numRuns: 150 });
	});
});
