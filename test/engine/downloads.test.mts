import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';

import fc from 'fast-check';

import { byId } from '../support/parameters.mts';
import { http, json, type RawRequest } from '../support/rawServer.mts';
import { useRawService } from '../support/service.mts';

/**
 * What a download may be answered with: the answer itself, which is the service's, and what the service
 * points to, which is anybody's. Where an answer in JSON has its file: test/unit/fileTypes.test.mts.
 */

const FILE = `%PDF-1.7 ${'resume '.repeat(40)}`;
const PRIVATE_KEY = 'private-key-of-downloads';
const MEGABYTE = 1024 * 1024;
const NO_FILE = "The file's host sent no file (HTTP 200)";

type Answer = (socket: Socket, request: RawRequest) => void;
type Headers = Record<string, string>;

let answer: Answer;
let hosted: Answer;
beforeEach(() => {
	hosted = sends({ 'Content-Type': 'application/pdf' }, FILE);
});
const service = useRawService((request, socket) => void answer(socket, request), PRIVATE_KEY);
const fileHost = useRawService((request, socket) => void hosted(socket, request));

/** @param options those of the node; `timeout` is one of Request Options */
const download = async ({ timeout, ...options }: { [name: string]: string | number } = {}) =>
	await service.run({
		resource: 'resume',
		operation: 'download',
		resumeId: byId('1'),
		options: { retries: 0, ...options },
		...(timeout && { requestOptions: { timeout } }),
	});
type Result = Awaited<ReturnType<typeof download>>;
/** The one item's file; its bytes as Latin-1. */
const stored = ({ outputs, error }: Result) => {
	expect(error).toBeUndefined();
	const [item, ...others] = outputs[0]!;
	expect(others).toEqual([]);
	const { data, fileName, mimeType } = item!.binary!.data!;
	expect(item!.json).toEqual({ fileName, mimeType });
	return { text: Buffer.from(data, 'base64').toString('latin1'), fileName, mimeType };
};
/** Its error's message. */
const failed = ({ outputs, error }: Result) => {
	expect(outputs).toEqual([]);
	return error?.message;
};

const ends =
	(...parts: Array<string | Buffer>): Answer =>
	(socket) =>
		void socket.end(Buffer.concat(parts.map((part) => Buffer.from(part as string, 'utf8'))));
/** A whole answer with HTTP 200. */
const sends = (headers: Headers, body: string | Buffer = '') =>
	ends(http(200, { 'Content-Length': String(Buffer.byteLength(body)), ...headers }), body);
const says = (body: unknown, headers: Headers = {}) => ends(json(body, 200, headers));
const link = (path = '/files/cv.pdf') =>
	fileHost.credential().baseUrl.replace('127.0.0.1', 'localhost').replace('/v1', path);
const redirects = () => ends(http(302, { Location: link() }));
const data = (value: unknown) => ({ status: 'success', data: value });
const ATTACHED = { 'Content-Disposition': 'attachment; filename="cv"' };

describe('a file is stored', () => {
	test.each<[string, () => Answer]>([
		['its bytes', () => sends({ 'Content-Type': 'application/pdf' }, FILE)],
		['a redirect to another host', redirects],
		['a link', () => says(data({ url: link() }))],
		['base64', () => says(data(btoa(FILE)))],
		['JSON of no known type', () => sends({}, JSON.stringify(data(link())))],
		[
			'JSON in UTF-16',
			() => sends({}, Buffer.from(`\ufeff${JSON.stringify(data(link()))}`, 'utf16le')),
		],
	])('that comes as %s', async (_, shape) => {
		answer = shape();
		const result = await download();
		expect(stored(result)).toEqual({ text: FILE, fileName: 'resume', mimeType: 'application/pdf' });
		expect(result.pairs).toEqual([[0]]);
		expect(service.requests).toHaveLength(1);
		expect(JSON.stringify(fileHost.requests)).not.toContain(PRIVATE_KEY);
		expect(JSON.stringify(result.run) + result.log).not.toContain(PRIVATE_KEY);
		expect(JSON.stringify(result.outputs)).not.toContain(link());
	});

	test('with the type that is declared, where that says more than its start', async () => {
		const docx = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
		for (const [declared, type] of [
			[`${docx}; charset=binary`, docx],
			['text/html', 'application/zip'],
			['application/octet-stream', 'application/zip'],
		]) {
			answer = sends({ 'Content-Type': declared! }, 'PK\x03\x04 and letters alone');
			expect(stored(await download()).mimeType).toBe(type);
		}
	});

	test.each([
		[`attachment; filename="x.pdf"; filename*=UTF-8''R%C3%A9sum%C3%A9.pdf`, 'Résumé.pdf'],
		[`attachment; filename*=UTF-8''..; filename="fallback.pdf"`, 'fallback.pdf'],
		['attachment; filename=".."', 'resume'],
		['inline; filename=cv.pdf', 'cv.pdf'],
	])('under the name of %s', async (disposition, name) => {
		answer = sends({ 'Content-Disposition': disposition }, FILE);
		expect(stored(await download()).fileName).toBe(name);
		expect(stored(await download({ fileName: '../mine.pdf' })).fileName).toBe('mine.pdf');
	});

	test.each<[string, unknown, string]>([
		['base64', { a: btoa(FILE) }, FILE],
		['a text', { a: 'Nathan Doe\nEngineer' }, 'Nathan Doe\nEngineer'],
	])('from %s at File Path, also in an attachment', async (_, body, text) => {
		for (const headers of [{}, ATTACHED]) {
			answer = says(body, headers);
			expect(stored(await download({ filePath: 'a' })).text).toBe(text);
		}
	});
});

describe('words in place of a file', () => {
	const PAGE = '<html>Sign in</html>';
	test.each<[string, Headers, string | Buffer, message: string]>([
		['a text', { 'Content-Type': 'text/plain' }, 'Resume not found', 'The answer is not JSON'],
		[
			'a page as a PDF',
			{ 'Content-Type': 'application/pdf' },
			PAGE,
			'A web page was received in place of JSON',
		],
		['JSON as a PDF', { 'Content-Type': 'application/pdf' }, '{"a":1}', 'The answer holds no file'],
		['a byte', {}, '{', 'The answer is not JSON'],
		['blanks', {}, ' '.repeat(2 * MEGABYTE), 'The answer is not JSON'],
	])('%s: an error, unless they are an attachment of text', async (_, headers, body, message) => {
		answer = sends(headers, body);
		expect(failed(await download())).toBe(message);
		answer = redirects();
		hosted = sends(headers, body);
		const whole = Buffer.byteLength(body) < MEGABYTE;
		expect(failed(await download())).toBe(
			whole ? NO_FILE : "The answer of the file's host is longer than 1 MB, and is not a file",
		);
		hosted = sends({ ...headers, ...ATTACHED }, body);
		if (/pdf/.test(headers['Content-Type'] ?? '')) {
			expect(failed(await download())).toBe(NO_FILE);
			return;
		}
		for (const way of [redirects(), hosted]) {
			answer = way;
			const latin1 = Buffer.from(body as string).toString('latin1');
			expect(stored(await download()).text === latin1).toBe(true);
		}
	});

	const SENT_AS: Headers[] = [{}, { 'Content-Type': 'application/pdf' }, ATTACHED];
	const ERROR = { status: 'error', errorCode: 'resume-4', errorMessage: 'resume is gone' };

	test.each([
		ERROR,
		{ ...ERROR, status: 'success', data: { url: 'https://example.com' } },
		{ ...ERROR, status: undefined },
		{ status: 'ERROR', errorMessage: 'resume is gone (resume-4)' },
	])('%j is that error, whatever it is sent as', async (body) => {
		const text = JSON.stringify(body);
		for (const headers of SENT_AS) {
			for (const form of [text, `\ufeff \r\n\t${text}\n`]) {
				answer = sends(headers, form);
				const message = 'The service answered: resume is gone (resume-4)';
				expect(failed(await download())).toBe(message);
			}
			answer = redirects();
			hosted = sends(headers, text);
			expect(failed(await download())).toBe(NO_FILE);
		}
	});

	test.each(SENT_AS)('none at all, with %j, are an error, too', async (headers) => {
		answer = sends(headers);
		expect(failed(await download())).toBe('The service sent an empty answer');
		answer = redirects();
		hosted = sends(headers);
		expect(failed(await download())).toBe(NO_FILE);
	});
});

test('a file that is not whole is an error', async () => {
	const lost = 'was lost before the answer was complete';
	for (const [shape, message] of [
		[ends(http(206, {}, '%PDF-1.7')), 'Only a part of the file was sent (HTTP 206)'],
		[sends({ 'Content-Length': '9999' }, FILE), `The connection to the file's host ${lost}`],
	] as const) {
		answer = says({ fileUrl: link() });
		hosted = shape;
		expect(failed(await download())).toBe(message);
	}
});

describe('a secret', () => {
	const HELD = 'The file holds a secret of the credential, and was not stored to keep it safe';

	test.each<[string, string | Buffer]>([
		['in base64', `<p>${btoa(`key ${PRIVATE_KEY}`)}</p>`],
		['in UTF-16', Buffer.from(`\ufeff${PRIVATE_KEY}`, 'utf16le')],
	])('in a text, %s, is not stored', async (_, body) => {
		hosted = sends(ATTACHED, body);
		for (const way of [hosted, redirects()]) {
			answer = way;
			expect(failed(await download())).toBe(HELD);
		}
	});

	test.each([`The key is ${PRIVATE_KEY}`, btoa(`The key is ${PRIVATE_KEY}`.padEnd(200))])(
		'in a text at File Path, %s, is not stored',
		async (text) => {
			answer = says({ a: text });
			expect(failed(await download({ filePath: 'a' }))).toBe(HELD);
		},
	);

	test('is in no request for a file', async () => {
		const encoded = [...PRIVATE_KEY].map((letter) => `%${letter.charCodeAt(0).toString(16)}`);
		for (const key of [PRIVATE_KEY, encoded.join('')]) {
			for (const shape of [
				says({ fileUrl: link(`/cv.pdf?key=${key}`) }),
				ends(http(302, { Location: link(`/${key}/cv.pdf`) })),
			]) {
				answer = shape;
				expect(failed(await download())).toMatch(/^The file's link holds the private key/);
			}
		}
		expect(fileHost.requests).toEqual([]);
	});

	test('of a link is not in its error', async () => {
		answer = redirects();
		hosted = ends(http(403, { 'Content-Type': 'application/xml' }, '<Error>Expired</Error>'));
		const result = await download();
		expect(failed(result)).toBe("The file's host sent no file (HTTP 403)");
		expect(JSON.stringify(result.error) + result.log).not.toContain('/files/cv.pdf');
	});
});

describe('a redirect', () => {
	test.each([
		['cv.pdf', '/v1/resume/1/cv.pdf'],
		['../files/cv.pdf', '/v1/resume/files/cv.pdf'],
		['/files/cv.pdf', '/files/cv.pdf'],
		['?part=1', '/v1/resume/1/download?part=1'],
	])('to %s is resolved against the address of the request', async (location, path) => {
		answer = (socket, { index }) =>
			void socket.end(index === 0 ? http(302, { Location: location }) : http(200, {}, FILE));
		expect(stored(await download()).text).toBe(FILE);
		expect(service.sent()).toEqual(['/v1/resume/1/download', path].map((one) => `GET ${one}`));
		expect(JSON.stringify(service.requests[1]!.headers)).not.toContain(PRIVATE_KEY);
	});

	test.each(['data:application/pdf;base64,AAAA', 'file:///etc/passwd', 'http://'])(
		'to %s is not followed',
		async (location) => {
			answer = ends(http(302, { Location: location }));
			expect(failed(await download())).toBe("The file's link can't be followed");
		},
	);

	test('whose body stays open is followed, and its connection is closed', async () => {
		let closed: Promise<void> | undefined;
		answer = (socket) => {
			closed = closing(socket);
			socket.write(http(302, { Location: link(), 'Content-Length': '100' }, '<html>'));
		};
		expect(stored(await download()).text).toBe(FILE);
		await closed;
	});
});

const closing = (socket: Socket) =>
	new Promise<void>((resolve) => void socket.on('close', () => resolve()));

describe('an answer in words without an end is left', () => {
	/** A gigabyte, to somebody who stays; `sent` is how much of it has gone out in the end. */
	const endless = (status: number, headers: Headers, block: Buffer) => {
		let closed: Promise<void> | undefined;
		let sent = 0;
		const flood: Answer = (socket) => {
			closed = closing(socket);
			socket.write(http(status, { ...headers, 'Content-Length': String(1024 * MEGABYTE) }));
			const more = () => {
				while (!socket.destroyed && sent < 1024 * MEGABYTE) {
					sent += block.length;
					if (!socket.write(block)) return void socket.once('drain', more);
				}
				socket.end();
			};
			more();
		};
		return { answer: flood, sent: async () => (await closed, sent) };
	};
	const blanks = Buffer.alloc(65_536, ' ');
	/** A megabyte of blanks in 1 KB; more than one of them are one text, too. */
	const packed = gzipSync(Buffer.alloc(MEGABYTE, ' '));
	const service = 'the service';
	const host = "the file's host";
	test.each<[string, host: string, status: number, Headers, Buffer, megabytes: number]>([
		['JSON', service, 200, { 'Content-Type': 'application/json' }, blanks, 32],
		['an attachment', service, 200, ATTACHED, blanks, 32],
		['packed', service, 200, { 'Content-Encoding': 'gzip' }, packed, 32],
		['a page', host, 200, {}, blanks, 1],
		['packed', host, 200, { 'Content-Encoding': 'gzip' }, packed, 1],
		['an attachment', host, 200, ATTACHED, blanks, 32],
		['an error', host, 500, {}, blanks, 0],
	])('%s, of %s', async (_, from, status, headers, block, megabytes) => {
		const flood = endless(status, headers, block);
		answer = from === host ? says({ fileUrl: link() }) : flood.answer;
		hosted = flood.answer;
		expect(failed(await download())).toBe(
			megabytes === 0
				? "The file's host sent no file (HTTP 500)"
				: `The answer of ${from} is longer than ${megabytes} MB, and is not a file`,
		);
		expect(await flood.sent()).toBeLessThan(64 * MEGABYTE);
	});
});

describe('time', () => {
	const drip =
		(status: number, type: string, start = ''): Answer =>
		(socket) => {
			socket.write(`HTTP/1.1 ${status} Status\r\nContent-Type: ${type}\r\n\r\n${start}`);
			const timer = setInterval(() => socket.write('x'), 20);
			socket.on('close', () => clearInterval(timer));
		};

	test.each([
		['JSON', 200, 'application/json', '{"a": "'],
		['an error', 500, 'application/pdf', '%PDF-1.7 is no file here'],
		['what may be a file', 200, 'application/pdf', ''],
	])('%s that drips ends with the timeout', async (_, status, type, start) => {
		answer = drip(status, type, start);
		expect(failed(await download({ timeout: 300 }))).toBe('No answer from the service in time');
		answer = says({ fileUrl: link() });
		hosted = drip(status, type, start);
		expect(failed(await download({ timeout: 300 }))).toBe("No answer from the file's host in time");
	});

	test('a file that drips does not end with the timeout', async () => {
		answer = (socket) => {
			socket.write(http(200, { 'Content-Length': '65' }, '%PDF-'));
			let left = 60;
			const timer = setInterval(() => {
				socket.write('x');
				if (--left === 0) clearInterval(timer);
			}, 25);
		};
		expect(stored(await download({ timeout: 700 })).text).toBe(`%PDF-${'x'.repeat(60)}`);
	});
});

describe('whatever comes', () => {
	const pieces = [...'é漢💼\n', 'Resume', ' not found', '<html>', '{"a":1}'];
	const jsons = [
		'{"error":"expired"}',
		'[]',
		'"x"',
		'null',
		'{"status":"success","data":{"id":1}}',
	];
	const texts = fc.oneof(
		fc.array(fc.constantFrom(...pieces), { maxLength: 2_000 }).map((all) => `No: ${all.join('')}`),
		fc.constantFrom(...jsons),
	);
	const encodings: Record<string, (text: string) => Buffer> = {
		'UTF-8': (text) => Buffer.from(text),
		'UTF-8 with a mark': (text) => Buffer.from(`\ufeff${text}`),
		'Latin-1': (text) => Buffer.from(text.replace(/[^\0-\xff]/g, 'ä'), 'latin1'),
		'UTF-16': (text) => Buffer.from(text, 'utf16le'),
		'UTF-16 with a mark': (text) => Buffer.from(`\ufeff${text}`, 'utf16le'),
		'UTF-16, big end first': (text) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
	};
	const words = fc
		.tuple(texts, fc.constantFrom(...Object.values(encodings)))
		.map(([text, encode]) => ({ isFile: false, body: encode(text) }));
	const rest = fc.uint8Array({ maxLength: 20_000 }).map((bytes) => Buffer.from(bytes));
	const starts = ['%PDF-', 'PK\x03\x04', '{\\rtf', 'GIF89a', 'II*\0', `${'x'.repeat(4_000)}\x01`];
	const files = fc.tuple(fc.constantFrom(...starts), rest).map(([start, end]) => ({
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
			const { isFile, body } = given.content;
			const shown = given.gzip ? gzipSync(body) : body;
			const lines = [
				`HTTP/1.1 ${given.framing === 'part' ? '206 Partial Content' : '200 OK'}`,
				'Connection: close',
				...(given.type ? [`Content-Type: ${given.type}`] : []),
				...(given.attachment ? ['Content-Disposition: attachment'] : []),
				...(given.gzip ? ['Content-Encoding: gzip'] : []),
			];
			if (given.framing === 'chunked') lines.push('Transfer-Encoding: chunked');
			else if (given.framing !== 'closed') {
				lines.push(`Content-Length: ${shown.length + (given.framing === 'cut' ? 1 : 0)}`);
			}
			const sent: Answer = async (socket) => {
				socket.write(`${lines.join('\r\n')}\r\n\r\n`);
				for (let at = 0, turn = 0; at < shown.length; turn++) {
					const piece = shown.subarray(at, at + given.pieces[turn % given.pieces.length]!);
					at += piece.length;
					if (given.framing === 'chunked') socket.write(`${piece.length.toString(16)}\r\n`);
					socket.write(piece);
					if (given.framing === 'chunked') socket.write('\r\n');
					await new Promise(setImmediate);
				}
				socket.end(given.framing === 'chunked' ? '0\r\n\r\n' : '');
			};
			if (given.way === 'answer') answer = sent;
			else {
				answer = given.way === 'link' ? says({ url: link() }) : redirects();
				hosted = sent;
			}
			const result = await download();
			const isWhole = given.framing !== 'cut' && given.framing !== 'part';
			const isText = given.attachment && !/pdf|png/.test(given.type);
			if (isWhole && (isFile || isText)) {
				counted.stored++;
				expect(stored(result).text === body.toString('latin1')).toBe(true);
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
		const values = fc.letrec<{ value: unknown; record: object }>((tie) => ({
			value: fc.oneof({ maxDepth: 3 }, fc.constant('x'), fc.array(tie('value')), tie('record')),
			record: fc.dictionary(names, fc.oneof(tie('value'), untold())),
		}));
		// As `data` itself, a link is the file.
		const record = values.record.filter(
			(one) => typeof (one as { data?: unknown }).data !== 'string',
		);
		const told = fc.constantFrom('', link('/told'), link(`/told?key=${PRIVATE_KEY}`));
		await fc.assert(
			fc.asyncProperty(record, told, async (body, fileUrl) => {
				fileHost.requests.length = 0;
				answer = says(fileUrl ? { ...body, fileUrl } : body);
				await download();
				for (const { path, headers } of fileHost.requests) {
					expect(path).toBe('/told');
					expect(JSON.stringify([path, headers])).not.toContain(PRIVATE_KEY);
				}
				expect(fileHost.requests).toHaveLength(fileUrl === link('/told') ? 1 : 0);
			}),
			{ numRuns: 150 },
		);
	});
});
