import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { BinaryDataService } from 'n8n-core';
import { download as fixed } from '../support/parameters.mts';
import { http, json, type RawRequest } from '../support/rawServer.mts';
import { useRawService } from '../support/service.mts';
import { PAUSE, useTimers } from '../support/timers.mts';

/** Responses to a download: those of the service, and those of the host that it links to, which can be anybody's. */

const FILE = `%PDF-1.7 ${'resume '.repeat(40)}`;
const PRIVATE_KEY = 'private-key-of-downloads';
const MEGABYTE = 1024 * 1024;
const NO_FILE = "The file's host sent no file (HTTP 500)";
const textFrom = (host: string) => `The response from ${host} is not a file`;
const TEXT = textFrom('the service');
const PAGE = 'The response is a web page';
const HOSTED_TEXT = textFrom("the file's host");

type RawResponse = string | Buffer | ((socket: Socket, request: RawRequest) => void);
type Headers = Record<string, string>;

let response: RawResponse;
let hosted: RawResponse;
const give = (given: RawResponse, request: RawRequest, socket: Socket) => {
	if (typeof given === 'function') given(socket, request);
	else socket.end(given);
};
const service = useRawService((request, socket) => give(response, request, socket), PRIVATE_KEY);
const fileHost = useRawService((request, socket) => give(hosted, request, socket));

const parameters = { ...fixed, binaryPropertyName: 'cv' };
const download = (options = {}) =>
	service.run({ ...parameters, options: { retries: 0, ...options } });
type Result = Awaited<ReturnType<typeof download>>;
/** Returns the file of the one item, with its bytes as Latin-1. */
const stored = ({ outputs, error }: Result) => {
	expect(error).toBeUndefined();
	expect(outputs[0]).toHaveLength(1);
	const item = outputs[0]![0]!;
	const { data, fileName, mimeType } = item.binary!.cv!;
	expect(item.json).toEqual({ fileName, mimeType });
	return { text: Buffer.from(data, 'base64').toString('latin1'), fileName, mimeType };
};
const failed = ({ outputs, error }: Result) => {
	expect(outputs).toEqual([]);
	return error?.message;
};

const ok = (headers: Headers, body: string | Buffer = '') => {
	const head = http(200, { 'Content-Length': `${Buffer.byteLength(body)}`, ...headers });
	return Buffer.concat([Buffer.from(head), Buffer.from(body as string)]);
};
const link = (path = '/files/cv.pdf') =>
	fileHost.credential().baseUrl.replace('127.0.0.1', 'localhost').replace('/v1', path);
const linked = () => json({ url: link() });
const redirected = () => http(302, { Location: link() });
const typed = (type: string) => ({ 'Content-Type': type });
const named = (name: string) => ({ 'Content-Disposition': `attachment; ${name}` });
const PDF = typed('application/pdf');
const ATTACHED = named('filename="cv"');
const { expire, pauses } = useTimers();
beforeEach(() => void (hosted = ok(PDF, FILE)));

test.each<[string, () => RawResponse]>([
	['its bytes', () => ok(PDF, FILE)],
	['a redirect to another host', redirected],
	['a link', linked],
	['base64', () => json({ status: 'success', data: btoa(FILE) })],
	['JSON of no known type', () => ok({}, JSON.stringify({ data: link() }))],
])('a file that comes as %s is stored', async (_, shape) => {
	response = shape();
	const result = await download();
	expect(stored(result)).toEqual({
		text: FILE,
		fileName: 'resume.pdf',
		mimeType: 'application/pdf',
	});
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
	[named('filename=cv'), { fileName: '../mine.pdf' }, { fileName: 'mine.pdf' }],
])('the type or the name of a file with %j and %j is %j', async (headers, options, file) => {
	response = ok(headers, 'PK\x03\x04 and letters alone');
	expect(stored(await download(options))).toMatchObject(file);
});

test('File Path leads to a text, or to a link to a text, but not a redirect', async () => {
	const text = 'Nathan Doe\nEngineer';
	hosted = ok({}, `<p>${text}</p>`);
	for (const headers of [{}, ATTACHED]) {
		response = json({ a: text }, 200, headers);
		expect(stored(await download({ filePath: 'a' })).text).toBe(text);
	}
	response = json({ a: link() });
	expect(stored(await download({ filePath: 'a' })).text).toBe(`<p>${text}</p>`);
	// A link that has expired often leads to a page.
	hosted = ok({ 'Content-Type': 'text/html' }, `<!DOCTYPE html><p>Sign in</p>`);
	expect(failed(await download({ filePath: 'a' }))).toBe(HOSTED_TEXT);
	hosted = ok({}, `<p>${text}</p>`);
	response = redirected();
	expect(failed(await download({ filePath: 'a' }))).toBe(HOSTED_TEXT);
});

test.each(['text/html', 'text/plain', 'application/json'])(
	'a PDF that a server declares as %s is a PDF',
	async (type) => {
		response = ok({ 'Content-Type': type }, FILE);
		for (const options of [{}, { filePath: 'data.url' }]) {
			const file = { fileName: 'resume.pdf', mimeType: 'application/pdf' };
			expect(stored(await download(options))).toMatchObject(file);
		}
	},
);

test.each(['/media/cv.pdf', '//cdn.example/cv.pdf', 'media/cv.pdf', 'ftp://a.example/cv.pdf'])(
	'the link %s at File Path is not whole, and the error says so',
	async (url) => {
		response = json({ data: { url } });
		expect(failed(await download({ filePath: 'data.url' }))).toBe(
			"The file's link can't be followed",
		);
	},
);

const ERROR = { status: 'error', errorCode: 'resume-4', errorMessage: 'resume is gone' };
const GONE = 'The service reported: resume is gone (resume-4)';
const INLINE = { 'Content-Disposition': 'inline; filename="attachment"' };
const NOT_ATTACHED: Headers[] = [{}, PDF, INLINE];
const ALL: Headers[] = [...NOT_ATTACHED, ATTACHED];
test.each<[string, message: string, sentAs: Headers[]]>([
	['Resume not found', TEXT, [typed('text/plain'), typed('Text/CSV;a=b')]],
	['%PDF-', TEXT, [typed('application/xml'), typed('image/svg+xml')]],
	['<html>Sign in</html>', PAGE, NOT_ATTACHED],
	['\ufeff<html>', PAGE, NOT_ATTACHED],
	['<Error>Expired</Error>', TEXT, NOT_ATTACHED],
	[`${' '.repeat(4_000)}{"a":1}`, 'The response has no file', NOT_ATTACHED],
	['[1]', 'The response has no file', NOT_ATTACHED],
	['', 'The service sent an empty response', ALL],
	[' \n', TEXT, ALL],
	[JSON.stringify(ERROR), GONE, ALL],
	[`\ufeff \r\n\t${JSON.stringify(ERROR)}\n`, GONE, ALL],
])('%j in place of a file is the error %j', async (body, message, sentAs) => {
	for (const headers of sentAs) {
		response = ok(headers, body);
		expect(failed(await download())).toBe(message);
		response = redirected();
		hosted = ok(headers, body);
		expect(failed(await download())).toBe(HOSTED_TEXT);
	}
});

const HELD = 'The file holds a secret of the credential';
const SECRET_TEXT = `The key is ${PRIVATE_KEY}`;
const SECRET_BASE64 = btoa(SECRET_TEXT.padEnd(200)).replace(/.{9}/g, '$&\n');
test.each<[string, () => RawResponse]>([
	['an attached text', () => ok(ATTACHED, `<p>${SECRET_TEXT}</p>`)],
	['an attached text behind a redirect', redirected],
	['a text at File Path', () => json({ a: SECRET_TEXT })],
	['base64 at File Path', () => json({ a: SECRET_BASE64 })],
])('a secret in %s is not stored', async (name, shape) => {
	response = shape();
	hosted = ok(ATTACHED, `<p>${SECRET_TEXT}</p>`);
	expect(failed(await download(name.includes('Path') ? { filePath: 'a' } : {}))).toBe(HELD);
});

test.each([
	['../files/cv.pdf', '/v1/resume/files/cv.pdf'],
	['?part=1', '/v1/resume/1/download?part=1'],
])('a redirect to %s is relative to the address of the request', async (Location, path) => {
	response = (socket, { index }) =>
		void socket.end(index === 0 ? http(302, { Location }) : http(200, {}, FILE));
	expect(stored(await download()).text).toBe(FILE);
	expect(service.sent()).toEqual(['/v1/resume/1/download', path].map((one) => `GET ${one}`));
	expect(JSON.stringify(service.requests[1]!.headers)).not.toContain(PRIVATE_KEY);
});

const NOT_FOLLOWED = "The file's link can't be followed";
const SECRET = "The file's link holds a secret of the credential";
const at = (Location: string) => () => http(302, { Location });
const FTP = 'ftp://127.0.0.1/cv.pdf';
const toFtp: RawResponse = (socket, { index }) => void socket.end(at(index ? FTP : '/again')());
test.each<[string, () => RawResponse, message: string]>([
	['a local file', at('file:///etc/passwd'), NOT_FOLLOWED],
	['half a link', at('http://'), NOT_FOLLOWED],
	['ftp behind a redirect', () => toFtp, NOT_FOLLOWED],
	['a redirect with the key', () => at(link(`/cv?key=${PRIVATE_KEY}`))(), SECRET],
	['a link with the key', () => json({ url: link(`/${PRIVATE_KEY}`) }), SECRET],
	['a circle', at('/again'), "The file's link can't be followed"],
	['203', () => http(203, PDF, FILE), 'Expected HTTP 200, got 203'],
	['304', () => http(304, { Location: '/cv' }), 'Expected HTTP 200, got 304'],
	['206', () => http(206, PDF, FILE), 'Expected HTTP 200, got 206'],
	['a host that refuses', at('http://127.0.0.1:1/cv'), "Could not connect to the file's host"],
])('%s in place of a file is an error of its own', async (name, shape, message) => {
	response = shape();
	const result = await download();
	expect(failed(result)).toBe(message);
	expect(fileHost.requests).toEqual([]);
	const advice = name.includes('host') ? "Check the file's link" : '';
	expect(result.error?.description).toContain(advice);
});

test("a download is repeated after the pause that the file's host asks for", async () => {
	response = redirected();
	hosted = (socket, { index }) =>
		void socket.end(index === 0 ? http(503, { 'Retry-After': PAUSE }) : ok(PDF, FILE));
	expect(stored(await download({ retries: 1 })).text).toBe(FILE);
	expect(pauses()).toBe(1);
});

let closed: Promise<void>;
const unfinished =
	(status: number, headers: Headers, start: string): RawResponse =>
	(socket) => {
		// Unlike `once` of Node.js, this resolves after a reset by the client, too.
		closed = new Promise((resolve) => void socket.on('close', () => resolve()));
		socket.write(http(status, { ...headers, 'Content-Length': `${1024 * MEGABYTE}` }, start));
	};

test.each<[string, number, Headers, messages: string[]]>([
	['text', 200, {}, Array(2).fill('The response is longer than 16 MB')],
	['an attachment', 200, ATTACHED, Array(2).fill('The response is longer than 16 MB')],
	['an error', 500, {}, ['The service had an internal error (HTTP 500)', NO_FILE]],
])('%s without an end is not read to its end', async (_, status, headers, messages) => {
	for (const [index, message] of messages.entries()) {
		hosted = unfinished(status, headers, ' '.repeat(17 * MEGABYTE));
		response = index === 0 ? hosted : linked();
		expect(failed(await download())).toBe(message);
		await closed;
	}
});

test('a redirect whose body stays open is followed, and its connection is closed', async () => {
	response = unfinished(302, { Location: link() }, '<html>');
	expect(stored(await download()).text).toBe(FILE);
	await closed;
});

test('a file that n8n can not store is an error, and its request ends', async () => {
	const full = jest.spyOn(BinaryDataService.prototype, 'store');
	full.mockRejectedValue(Object.assign(new Error('secret words'), { code: 'ENOSPC' }));
	response = unfinished(200, {}, FILE.repeat(4));
	expect(failed(await download())).toBe("The file could not be put into n8n's binary store");
	full.mockRestore();
	await closed;
});

let limits = true;
/** Sends the start of a body, then piece for piece without an end. With `limits`, the time limits expire meanwhile. */
const drip =
	(status: number, start: string, piece: string): RawResponse =>
	(socket) => {
		socket.write(http(status, { ...PDF, 'Content-Length': `${MEGABYTE}` }, start));
		const timer = setInterval(() => {
			if (piece) socket.write(piece);
			if (limits) expire();
		}, 20);
		socket.on('close', () => clearInterval(timer));
	};

test.each<[string, RawResponse, hosted: string]>([
	['an error that drips', drip(500, '%PDF-1.7 is no file here', 'x'), NO_FILE],
	['a file that stalls', drip(200, FILE, ''), "No response from the file's host in time"],
	['blanks that drip', drip(200, '', ' '), "No response from the file's host in time"],
])('%s ends with the timeout', async (_, given, message) => {
	response = given;
	limits = true;
	expect(failed(await download())).toBe('No response from the service in time');
	hosted = given;
	response = linked();
	// The status of the file's host alone tells that there is no file, however long its body takes.
	limits = message !== NO_FILE;
	expect(failed(await download())).toBe(message);
});

test('half a byte order mark is not taken for the start of a file', async () => {
	const page = Buffer.from('\ufeff<html>');
	response = (socket) => {
		socket.write(http(200, { 'Content-Length': `${page.length}` }));
		setTimeout(() => socket.write(page.subarray(0, 1)), 50);
		setTimeout(() => socket.write(page.subarray(1)), 150);
	};
	expect(failed(await download())).toBe(PAGE);
});

test("neither the time of a whole file nor that of n8n's store counts for the timeout", async () => {
	const { store } = BinaryDataService.prototype;
	const slow = jest.spyOn(BinaryDataService.prototype, 'store');
	slow.mockImplementation(async function (this: BinaryDataService, ...all) {
		expire();
		return await store.apply(this, all);
	});
	hosted = ok(PDF, FILE.repeat(10_000));
	for (const way of [hosted, linked()]) {
		response = way;
		expect(stored(await download()).text).toBe(FILE.repeat(10_000));
	}
	slow.mockRestore();
});

const FRAMES: Record<string, (body: Buffer) => RawResponse> = {
	whole: (body) => ok(ATTACHED, body),
	'in gzip': (body) => ok({ ...ATTACHED, 'Content-Encoding': 'gzip' }, gzipSync(body)),
	truncated: (body) => ok({ ...ATTACHED, 'Content-Length': `${body.length + 1}` }, body),
};
/** Files, and texts that are files if they are attached. */
// prettier-ignore
const BODIES = [
	'%PDF-1.7', 'PK\x03\x04', 'Ann Doe, {engineer}', '"x"', '\0<html>', `${' '.repeat(3_000)}%`,
	'<html>Expired</html>', '{"a":1}', '[1]', '{\\rtf1 Ann}', '\ufeff \r\n<html>',
];

test.each(Object.keys(FRAMES))('a file that comes %s is stored, or an error', async (frame) => {
	for (const body of BODIES) {
		hosted = FRAMES[frame]!(Buffer.from(body));
		for (const way of [hosted, redirected(), linked()]) {
			response = way;
			const result = await download();
			if (frame === 'truncated') expect(failed(result)).toContain('was lost before');
			else expect(stored(result).text).toBe(Buffer.from(body).toString('latin1'));
		}
	}
});
