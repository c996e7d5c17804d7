import { gzipSync } from 'node:zlib';

import { runNode } from '../support/engine.mts';
import { byId } from '../support/parameters.mts';
import { http, type RawServer, startRawServer } from '../support/rawServer.mts';

const FILE = `%PDF-1.7 ${'resume '.repeat(40)}`;
const PRIVATE_KEY = 'private-key-of-downloads';

let service: RawServer;
let fileHost: RawServer;
let answer: string | Buffer;
let hosted: string | Buffer;

beforeAll(async () => {
	service = await startRawServer((socket) => void socket.end(answer));
	fileHost = await startRawServer((socket) => void socket.end(hosted));
});
beforeEach(() => {
	hosted = http(200, { 'Content-Type': 'application/pdf' }, FILE);
	service.requests.length = 0;
	fileHost.requests.length = 0;
});
afterAll(async () => {
	await service.close();
	await fileHost.close();
});

const download = (options = {}) =>
	runNode({
		parameters: { resource: 'resume', operation: 'download', resumeId: byId('1'), options },
		credential: { baseUrl: `http://127.0.0.1:${service.port}/v1`, privateKey: PRIVATE_KEY },
	});
const link = () => `http://localhost:${fileHost.port}/files/cv.pdf?signature=secret-of-the-link`;
const json = (body: unknown) =>
	http(200, { 'Content-Type': 'application/json; charset=utf-8' }, JSON.stringify(body));
const base64 = Buffer.from(FILE).toString('base64');

const shapes: Array<[string, () => string | Buffer]> = [
	['its bytes', () => http(200, { 'Content-Type': 'application/pdf' }, FILE)],
	['its bytes, compressed', () => compressed()],
	['bytes of no known type', () => http(200, {}, FILE)],
	['a plain text', () => http(200, { 'Content-Type': 'text/plain' }, FILE)],
	['a redirect to another host', () => http(302, { Location: link() })],
	['JSON with a link', () => json({ status: 'success', data: { url: link() } })],
	[
		'JSON with several links, one to the file',
		() => json({ status: 'success', downloadUrl: link(), profile: 'https://example.com/me' }),
	],
	['JSON with base64', () => json({ status: 'success', data: { content: base64 } })],
	['JSON that is base64', () => json({ status: 'success', data: base64 })],
];

test.each(shapes)('a file that comes as %s ends in one binary field', async (_, shape) => {
	answer = shape();
	const result = await download();
	const [item, ...others] = result.outputs[0]!;
	expect(others).toEqual([]);
	expect(item!.pairedItem).toEqual({ item: 0 });
	expect(Buffer.from(item!.binary!.data!.data, 'base64').toString()).toBe(FILE);
	expect(service.requests).toHaveLength(1);
	for (const { headers } of fileHost.requests) {
		expect(JSON.stringify(headers)).not.toContain(PRIVATE_KEY);
	}
	expect(JSON.stringify(result.run) + result.log).not.toContain(PRIVATE_KEY);
	expect(JSON.stringify(item)).not.toContain('secret-of-the-link');
});

const names: Array<[string, string]> = [
	['attachment; filename="Nathan Doe.pdf"', 'Nathan Doe.pdf'],
	['attachment; filename=cv.pdf', 'cv.pdf'],
	[`attachment; filename="x.pdf"; filename*=UTF-8''R%C3%A9sum%C3%A9.pdf`, 'Résumé.pdf'],
	[`attachment; filename*=iso-8859-1'en'R%E9sum%E9.pdf`, 'Résumé.pdf'],
	[`attachment; filename*=UTF-8''%ff; filename="fallback.pdf"`, 'fallback.pdf'],
	['attachment; filename="../../etc/passwd"', 'passwd'],
	['attachment; filename="C:\\\\temp\\\\cv.pdf"', 'cv.pdf'],
	['attachment; filename=".."', 'resume'],
	['attachment; filename="a\\"b<c>.pdf"', 'abc.pdf'],
	['inline', 'resume'],
];

test.each(names)('%s names the file %s', async (disposition, name) => {
	const headers = { 'Content-Type': 'application/pdf', 'Content-Disposition': disposition };
	answer = http(200, headers, FILE);
	const { outputs } = await download();
	expect(outputs[0]![0]!.binary!.data).toMatchObject({
		fileName: name,
		mimeType: 'application/pdf',
	});
});

test('File Name in Options comes before the name that the service sends', async () => {
	const headers = { 'Content-Disposition': 'attachment; filename="theirs.pdf"' };
	answer = http(200, headers, FILE);
	const { outputs } = await download({ fileName: '../mine.pdf' });
	expect(outputs[0]![0]!.binary!.data!.fileName).toBe('mine.pdf');
});

const refused: Array<[string, () => string, RegExp]> = [
	[
		'JSON without a file',
		() => json({ status: 'success', data: { id: 1 } }),
		/^The answer holds no file/,
	],
	[
		'JSON with two links',
		() => json({ a: 'https://example.com/1', b: 'https://example.com/2' }),
		/^The answer holds no file/,
	],
	[
		'a data URL',
		() => json({ status: 'success', data: { url: `data:application/pdf;base64,${base64}` } }),
		/^The answer holds no file/,
	],
	[
		'a redirect to a data URL',
		() => http(302, { Location: 'data:application/pdf;base64,AAAA' }),
		/^The file's link can't be followed/,
	],
	[
		'a redirect to a file of this machine',
		() => http(302, { Location: 'file:///etc/passwd' }),
		/^The file's link can't be followed/,
	],
	[
		'an envelope with an error',
		() => json({ status: 'error', errorCode: 'resume-4', errorMessage: 'resume is gone' }),
		/^The service answered: resume is gone \(resume-4\)/,
	],
	[
		'a web page',
		() => http(200, { 'Content-Type': 'text/html' }, '<html></html>'),
		/^A web page was received/,
	],
];

test.each(refused)('%s is a clear error', async (_, shape, message) => {
	answer = shape();
	const { error, outputs } = await download();
	expect(error?.message).toMatch(message);
	expect(outputs).toEqual([]);
	expect(fileHost.requests).toEqual([]);
});

test("a link that has expired is the file host's error, without the link", async () => {
	answer = http(302, { Location: link() });
	hosted = http(403, { 'Content-Type': 'application/xml' }, '<Error>Expired</Error>');
	const result = await download();
	expect(result.error?.message).toBe("The file's host sent no file (HTTP 403)");
	expect(JSON.stringify(result.error) + result.log).not.toContain('secret-of-the-link');
});

function compressed(): Buffer {
	const body = gzipSync(FILE);
	const headers = {
		'Content-Type': 'application/pdf',
		'Content-Encoding': 'gzip',
		'Content-Length': String(body.length),
	};
	return Buffer.concat([Buffer.from(http(200, headers)), body]);
}
