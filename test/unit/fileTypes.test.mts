import { mimeTypeOf } from '../../nodes/ResumeManagement/responses/fileNames.ts';
import { fileTypeOf } from '../../nodes/ResumeManagement/responses/fileTypes.ts';
import { locateFile } from '../../nodes/ResumeManagement/responses/locateFile.ts';
import type { Failure } from '../../nodes/shared/failure.ts';

/** Signs that a response is a file and not text, and the place of a file in a JSON body. */

test.each([
	['application/pdf; charset=binary', 'application/pdf'],
	[' Application/PDF ', 'application/pdf'],
	['text/html\r\nx: y', ''],
	['', ''],
	[`a/${'b'.repeat(1_000)}`, ''],
])('the media type of %j is %j', (header, type) => {
	expect(mimeTypeOf({ 'content-type': header })).toBe(type);
});

const TEXT = ['text/csv', 'application/json', 'a/b+json', 'text/xml', 'application/html'];
const OTHER = ['', 'application/pdf', 'application/jsonx', 'application/xml-dtd'];
test.each([...TEXT, ...OTHER])('type %j is text by itself, or by its start', (type) => {
	const isOne = (head: string) => fileTypeOf(Buffer.from(head), type) !== undefined;
	const file = type === 'application/pdf' ? ' %PDF-1.7' : 'PK and letters';
	expect([isOne(file), isOne(' \n')]).toEqual([OTHER.includes(type), false]);
	expect(fileTypeOf(Buffer.from('\ufeff%PDF-1.7'), type)).toBe('application/pdf');
});

const FILE = `%PDF-1.7 ${'resume '.repeat(40)}`;
const BASE64 = btoa(FILE);
const LINK = 'https://example.com/cv.pdf';
const OTHER_LINK = 'https://example.com/me';
const page = '<html>A resume</html>'.padEnd(200);
const data = (value: unknown) => ({ status: 'success', data: value });

const located = (body: object, path = '') => {
	try {
		const file = locateFile(body as never, path);
		return 'link' in file ? file.link : file.bytes.toString();
	} catch (error) {
		const { message, description } = error as Failure;
		return `${message}. ${description}`;
	}
};

test.each<[what: string, body: object, file: string, path?: string]>([
	['a link under a name of the list', data({ U_R_L: LINK, profile: OTHER_LINK }), LINK],
	['a link beside data', { ...data({ id: 1 }), link: LINK }, LINK],
	['a link in place of data', data(LINK), LINK],
	['the same link twice', { ...data({ url: LINK }), link: ` ${LINK}` }, LINK],
	['a link in the data of data', data({ data: LINK }), LINK],
	['base64 under a name of the list', data({ content: BASE64 }), FILE],
	['base64 in place of data', data(BASE64), FILE],
	['a data URL', data({ url: `data:application/pdf;base64,${BASE64}` }), FILE],
	['a link at a path', data({ cv: [{ at: LINK }] }), LINK, 'data.cv.0.at'],
	['a link with blanks', { a: ` ${LINK}/of Ann.pdf\n` }, `${LINK}/of Ann.pdf`, 'a'],
	['one of two links', data({ url: OTHER_LINK, file: LINK }), LINK, 'data.file'],
	['base64 at a path', data({ cv: BASE64, url: OTHER_LINK }), FILE, 'data.cv'],
	['base64 without padding', { a: btoa(`${FILE}!`).replace(/=+$/, '') }, `${FILE}!`, 'a'],
	['base64 in indented lines', { a: BASE64.replace(/.{76}/g, '$&\n\t ') }, FILE, 'a'],
	['base64 for URLs', { a: btoa(`${FILE}???>>>`).replaceAll('/', '_') }, `${FILE}???>>>`, 'a'],
	['base64 of a page', { a: btoa(page) }, page, 'a'],
])('a file is found as %s', (_, body, expected, path = '') => {
	expect(located(body, path)).toBe(expected);
});

test.each<[what: string, value: unknown]>([
	['nothing', undefined],
	['an object', { url: LINK }],
	['blanks', ' \n '],
	['bytes that came as a text', '%PDF-1.7\n%\ufffd\ufffd\n1 0 obj'],
	['a short page', '<html><body>CV</body></html>'],
	['a data URL that is cut off', `data:application/pdf;base64,${BASE64.slice(0, 253)}`],
])('File Path leads to %s, which is no file', (_, a) => {
	expect(located({ a }, 'a')).toMatch(/^The response has no file at 'a'\..*File Path/);
});

test.each<[what: string, body: object, problem: string]>([
	['two links', data({ url: OTHER_LINK, file: LINK }), 'more than one file'],
	['a link and base64', { ...data(BASE64), url: LINK }, 'more than one file'],
	['links under other names', data({ profile: LINK, website: LINK, avatarUrl: LINK }), 'no file'],
	['a link further within', data({ file: { url: LINK }, files: [LINK] }), 'no file'],
	['a link that is not whole', data({ url: '/files/cv.pdf' }), 'no file'],
	['base64 of a page', data(btoa(page)), 'no file'],
	['base64 with another character', data(`${BASE64.slice(0, 251)}!`), 'no file'],
	['base64 that is not whole', data(BASE64.slice(0, 253)), 'no file'],
	['a hash of 512 bits', data({ file: 'a10a'.repeat(32) }), 'no file'],
	['bytes in hex, as PostgreSQL writes them', data(Buffer.from(FILE).toString('hex')), 'no file'],
	['a long path', data({ file: `/storage/${'a'.repeat(212)}` }), 'no file'],
	['a long word', data('notavailable'.repeat(20)), 'no file'],
	['a token', data({ file: BASE64.slice(0, 100) }), 'no file'],
])('the error of %s names File Path', (_, body, what) => {
	expect(located(body)).toMatch(new RegExp(`^The response has ${what}\\..*Set 'File Path'`));
});

test('an error names twenty properties at most, each cut to 64 characters', () => {
	const names = Array.from({ length: 30 }, (_, i) => `${i}${'x'.repeat(100)}`);
	const shown = names.slice(0, 20).map((name) => name.slice(0, 64));
	const body = Object.fromEntries(names.map((name) => [name, 1]));
	expect(located(body)).toContain(`properties: ${shown.join(', ')}.`);
});
