import type { Socket } from 'node:net';

import fc from 'fast-check';

import { runNode } from '../support/engine.mts';
import { byId } from '../support/parameters.mts';
import { http, type RawRequest, type RawServer, startRawServer } from '../support/rawServer.mts';

/**
 * What a download may be answered with beside a file: the answer itself, which is the service's, and
 * what the service points to, which is anybody's.
 */

const FILE = `%PDF-1.7 ${'resume '.repeat(40)}`;
const PRIVATE_KEY = 'private-key-of-downloads';
const MEGABYTE = 1024 * 1024;

type Answer = (socket: Socket, request: RawRequest) => void;

let service: RawServer;
let fileHost: RawServer;
let answer: Answer;
let hosted: Answer;

beforeAll(async () => {
	service = await startRawServer((socket, request) => answer(socket, request));
	fileHost = await startRawServer((socket, request) => hosted(socket, request));
});
beforeEach(() => {
	hosted = ends(http(200, { 'Content-Type': 'application/pdf' }, FILE));
	service.requests.length = 0;
	fileHost.requests.length = 0;
});
afterAll(async () => {
	await service.close();
	await fileHost.close();
});

const ends =
	(text: string | Buffer): Answer =>
	(socket) =>
		void socket.end(text);
const download = async (timeout?: number) =>
	await runNode({
		parameters: {
			resource: 'resume',
			operation: 'download',
			resumeId: byId('1'),
			options: { retries: 0 },
			...(timeout && { requestOptions: { timeout } }),
		},
		credential: { baseUrl: `http://127.0.0.1:${service.port}/v1`, privateKey: PRIVATE_KEY },
	});
const link = (path = '/files/cv.pdf') => `http://localhost:${fileHost.port}${path}`;
const json = (body: unknown, headers = {}) =>
	http(200, { 'Content-Type': 'application/json', ...headers }, JSON.stringify(body));
const chunked = (headers: Record<string, string>, ...chunks: string[]) => {
	const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
	const body = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`);
	return `HTTP/1.1 200 OK\r\n${lines.join('')}Transfer-Encoding: chunked\r\n\r\n${body.join('')}`;
};
const stored = ({ outputs, error }: Awaited<ReturnType<typeof download>>) => {
	expect(error).toBeUndefined();
	return Buffer.from(outputs[0]![0]!.binary!.data!.data, 'base64').toString();
};
const closing = (socket: Socket) =>
	new Promise<void>((resolve) => void socket.on('close', () => resolve()));
/** A gigabyte of blanks, to somebody who stays; `sent` is how much of it has gone out in the end. */
const endless = (status: number, type: string) => {
	let closed: Promise<void> | undefined;
	let sent = 0;
	const flood: Answer = (socket) => {
		closed = closing(socket);
		socket.write(`HTTP/1.1 ${status} Status\r\nContent-Type: ${type}\r\n\r\n`);
		const more = () => {
			while (!socket.destroyed && sent < 1024 * MEGABYTE) {
				sent += 65_536;
				if (!socket.write(' '.repeat(65_536))) return void socket.once('drain', more);
			}
			socket.end();
		};
		more();
	};
	return { answer: flood, sent: async () => (await closed, sent) };
};
const ERROR = { status: 'error', errorCode: 'resume-4', errorMessage: 'resume is gone' };
const THE_ERROR = 'The service answered: resume is gone (resume-4)';
const base64 = Buffer.from(FILE).toString('base64');

describe('which file', () => {
	test('a link under any other name is not followed', async () => {
		for (const body of [
			{ status: 'success', candidate: { website: link() } },
			{ status: 'success', data: { profile: link(), website: link() } },
			{ status: 'success', data: { resume: { id: 1, url: link() } } },
		]) {
			answer = ends(json(body));
			expect((await download()).error?.message).toBe('The answer holds no file');
		}
		expect(fileHost.requests).toEqual([]);
	});

	test('a file within the answer goes before a link', async () => {
		answer = ends(json({ status: 'success', data: { fileUrl: link(), content: base64 } }));
		expect(stored(await download())).toBe(FILE);
		expect(fileHost.requests).toEqual([]);
	});

	test('a JSON attachment is the file itself, and is not searched', async () => {
		const body = { status: 'success', fileUrl: link(), content: base64 };
		for (const disposition of ['attachment; filename="resume.json"', 'attachment']) {
			answer = ends(json(body, { 'Content-Disposition': disposition }));
			expect(stored(await download())).toBe(JSON.stringify(body));
		}
		expect(fileHost.requests).toEqual([]);
	});

	test('a JSON attachment that reports an error is one', async () => {
		answer = ends(json(ERROR, { 'Content-Disposition': 'attachment; filename="resume.json"' }));
		expect((await download()).error?.message).toBe(THE_ERROR);
	});

	test('JSON that is to be shown under a name is an answer', async () => {
		const headers = { 'Content-Disposition': 'inline; filename="f.txt"' };
		answer = ends(json({ status: 'success', fileUrl: link() }, headers));
		expect(stored(await download())).toBe(FILE);
	});

	test("no link takes the private key to the file's host", async () => {
		const encoded = [...PRIVATE_KEY]
			.map((letter) => `%${letter.charCodeAt(0).toString(16)}`)
			.join('');
		for (const key of [PRIVATE_KEY, encoded]) {
			for (const shape of [
				json({ fileUrl: link(`/cv.pdf?key=${key}`) }),
				http(302, { Location: link(`/${key}/cv.pdf`) }),
			]) {
				answer = ends(shape);
				const { error } = await download();
				expect(error?.message).toMatch(/^The file's link holds the private key/);
			}
		}
		expect(fileHost.requests).toEqual([]);
	});
});

describe('an error that is labelled as a file', () => {
	const types: Array<Record<string, string>> = [
		{ 'Content-Type': 'application/pdf' },
		{ 'Content-Type': 'application/octet-stream' },
		{ 'Content-Type': 'text/plain' },
		{ 'Content-Disposition': 'attachment; filename="cv.pdf"' },
		{},
	];
	const text = JSON.stringify(ERROR);

	test.each(types)('%j is recognised by its first bytes', async (headers) => {
		for (const body of [
			text,
			` \r\n\t${text}\n`,
			`\ufeff${text}`,
			JSON.stringify(ERROR, null, 2),
		]) {
			answer = ends(http(200, headers, body));
			expect((await download()).error?.message).toBe(THE_ERROR);
		}
	});

	test('is recognised when it comes byte by byte', async () => {
		answer = async (socket) => {
			socket.write(chunked({ 'Content-Type': 'application/pdf' }));
			for (const byte of ` ${text}`) {
				socket.write(`1\r\n${byte}\r\n`);
				await new Promise(setImmediate);
			}
			socket.end('0\r\n\r\n');
		};
		expect((await download()).error?.message).toBe(THE_ERROR);
	});

	test("of the file's host is one", async () => {
		answer = ends(http(302, { Location: link() }));
		hosted = ends(http(200, { 'Content-Type': 'application/pdf' }, text));
		expect((await download()).error?.message).toBe("The file's host sent no file (HTTP 200)");
	});

	test.each([
		['RTF', '{\\rtf1 A resume}'],
		['JSON without a status', '{"basics": {"name": "Nathan"}}'],
		['JSON with another status', '{"status": "active", "fileUrl": "https://example.com"}'],
		['JSON that breaks off', '{"status": "error", '],
		['an array', '[{"status": "error"}]'],
		['blanks', ' '.repeat(2 * MEGABYTE)],
		[
			'a text like JSON that is longer than an error',
			`{"status": "error"${' '.repeat(2 * MEGABYTE)}}`,
		],
		['a byte', '{'],
	])('%s is none', async (_, body) => {
		for (const headers of types.slice(0, 2)) {
			answer = ends(http(200, headers, body));
			expect(stored(await download()) === body).toBe(true);
		}
	});
});

describe('what is no file', () => {
	test.each([
		['chunked', () => chunked({ 'Content-Type': 'application/pdf' }) + '0\r\n\r\n'],
		['of a known length', () => http(200, { 'Content-Type': 'application/pdf' })],
		['of no type', () => http(200, {})],
		['as an attachment', () => http(200, { 'Content-Disposition': 'attachment; filename=a.pdf' })],
	])('an empty body, %s, is an error', async (_, shape) => {
		answer = ends(shape());
		expect((await download()).error?.message).toBe('The service sent an empty answer');
		answer = ends(http(302, { Location: link() }));
		hosted = ends(shape());
		expect((await download()).error?.message).toBe("The file's host sent no file (HTTP 200)");
	});

	test.each([
		['a page', 200, 'text/html'],
		['JSON', 200, 'application/json'],
		['an error', 500, 'application/pdf'],
	])("%s without an end is left, from the file's host", async (_, status, type) => {
		answer = ends(json({ fileUrl: link() }));
		const flood = endless(status, type);
		hosted = flood.answer;
		const { error } = await download();
		expect(error?.message).toBe(`The file's host sent no file (HTTP ${status})`);
		expect(await flood.sent()).toBeLessThan(64 * MEGABYTE);
	});

	test('JSON without an end is left, from the service, too', async () => {
		const flood = endless(200, 'application/json');
		answer = flood.answer;
		const { error } = await download();
		expect(error?.message).toBe('The answer is longer than 64 MB, and is not a file');
		expect(await flood.sent()).toBeLessThan(128 * MEGABYTE);
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
			void socket.end(
				index === 0
					? http(302, { Location: location })
					: http(200, { 'Content-Type': 'application/pdf' }, FILE),
			);
		expect(stored(await download())).toBe(FILE);
		expect(service.requests.map((request) => request.path)).toEqual([
			'/v1/resume/1/download',
			path,
		]);
		expect(JSON.stringify(service.requests[1]!.headers)).not.toContain(PRIVATE_KEY);
	});

	test('whose body stays open is followed, and its connection is closed', async () => {
		let closed: Promise<void> | undefined;
		answer = (socket) => {
			closed = closing(socket);
			const headers = { Location: link(), 'Content-Type': 'text/html', 'Content-Length': '100' };
			socket.write(http(302, headers, '<html>'));
		};
		expect(stored(await download())).toBe(FILE);
		await closed;
	});
});

describe('time', () => {
	const drip =
		(head: string, piece: string): Answer =>
		(socket) => {
			socket.write(head);
			const timer = setInterval(() => socket.write(piece), 20);
			socket.on('close', () => clearInterval(timer));
		};
	const head = (status: number, type: string) =>
		`HTTP/1.1 ${status} Status\r\nContent-Type: ${type}\r\n\r\n`;

	test.each([
		['JSON', head(200, 'application/json'), ' '],
		['an error', head(500, 'application/pdf'), 'x'],
		['what begins as JSON', `${head(200, 'application/pdf')}{"status": "error", "a": "`, 'x'],
		['blanks', head(200, 'application/octet-stream'), ' '],
	])('%s that drips ends with the timeout', async (_, start, piece) => {
		answer = drip(start, piece);
		expect((await download(300)).error?.message).toBe('No answer from the service in time');
		answer = ends(json({ fileUrl: link() }));
		hosted = drip(start, piece);
		expect((await download(300)).error?.message).toBe("No answer from the file's host in time");
	});

	test('a file that drips does not end with the timeout', async () => {
		answer = (socket) => {
			socket.write(
				http(200, { 'Content-Type': 'application/pdf', 'Content-Length': '64' }, '%PDF'),
			);
			let left = 60;
			const timer = setInterval(() => {
				socket.write('x');
				if (--left === 0) clearInterval(timer);
			}, 25);
		};
		expect(stored(await download(700))).toBe(`%PDF${'x'.repeat(60)}`);
	});

	test("a file's host that breaks off is named", async () => {
		answer = ends(json({ fileUrl: link() }));
		hosted = ends(http(200, { 'Content-Type': 'application/pdf', 'Content-Length': '9999' }, FILE));
		expect((await download()).error?.message).toBe(
			"The connection to the file's host was lost before the answer was complete",
		);
	});
});

test('whatever an answer holds, nobody else is asked, and the key goes to the service alone', async () => {
	const names = fc.constantFrom(
		...['data', 'candidate', 'website', 'profile', 'profileUrl', 'owner', 'fileOwner', 'avatarUrl'],
		...['status', 'callback_url', 'thumbnailUrl', 'id', '__proto__'],
	);
	const texts = fc.constantFrom('success', 'x', base64.slice(0, 40));
	const untold = () => fc.constantFrom(link('/untold'), link(`/untold?${PRIVATE_KEY}`));
	const { record } = fc.letrec<{ value: unknown; record: object }>((tie) => ({
		value: fc.oneof({ maxDepth: 3 }, texts, untold(), fc.array(tie('value')), tie('record')),
		record: fc.dictionary(names, tie('value')),
	}));
	const told = fc.constantFrom('', link('/told'), link(`/told?key=${PRIVATE_KEY}`));
	const labels = fc.constantFrom('application/json', 'text/plain', 'application/pdf');
	await fc.assert(
		fc.asyncProperty(record, told, labels, async (body, fileUrl, label) => {
			fileHost.requests.length = 0;
			const text = JSON.stringify(fileUrl ? { ...body, fileUrl } : body);
			answer = ends(http(200, { 'Content-Type': label }, text));
			await download();
			for (const { path, headers } of fileHost.requests) {
				expect(path).toBe('/told');
				expect(JSON.stringify([path, headers])).not.toContain(PRIVATE_KEY);
			}
			const followed = fileUrl === link('/told') && label !== 'application/pdf';
			expect(fileHost.requests).toHaveLength(followed ? 1 : 0);
		}),
		{ numRuns: 150 },
	);
});
