import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { processedData } from '../support/deduplication.mts';
import { byEmail, download as fixed, upgrade, userGet } from '../support/parameters.mts';
import { http, json } from '../support/rawServer.mts';
import { useRawService } from '../support/service.mts';

/** What a response says of itself, and what it is: character sets, types, encodings and names of real servers. */

let response: string | Buffer;
let users: string | Buffer = '';
let hosted: string | Buffer | ((path: string) => string | Buffer);
const service = useRawService(({ path }, socket) => {
	socket.end(path.endsWith('/users') ? users : response);
});
const fileHost = useRawService(({ path }, socket) => {
	socket.end(typeof hosted === 'function' ? hosted(path) : hosted);
});
const { run, requests, sent } = service;

type Headers = Record<string, string>;
const ok = (headers: Headers, body: string | Buffer, status = 200) => {
	const bytes = Buffer.from(body as string);
	const head = http(status, { 'Content-Length': `${bytes.length}`, ...headers });
	return Buffer.concat([Buffer.from(head, 'latin1'), bytes]);
};
const typed = (type: string) => ({ 'Content-Type': type });

const MUELLER = JSON.stringify({ status: 'success', data: { id: 'müller', name: 'Müller' } });
const WRONG = ['iso-8859-1', 'us-ascii', 'windows-1252', 'utf8mb4', 'binary', 'none', '"UTF8"'];

test.each(WRONG)('UTF-8 that is labelled %s keeps its letters', async (charset) => {
	response = ok(typed(`application/json; charset=${charset}`), MUELLER);
	expect((await run(userGet('1'))).items).toMatchObject([{ name: 'Müller' }]);
});

test.each(WRONG)('By Email finds the right ID in a list labelled %s', async (charset) => {
	const list = { status: 'success', data: [{ id: 'müller', email: 'm@x.example' }] };
	users = ok(typed(`application/json; charset=${charset}`), JSON.stringify(list));
	response = json({ status: 'success', data: {} });
	await run({ resource: 'resume', operation: 'create', userId: byEmail('m@x.example') });
	expect(sent()).toContain('POST /v1/user/m%C3%BCller/resume');
});

test.each([
	['iso-8859-1', Buffer.from(MUELLER, 'latin1')],
	['utf-16le', Buffer.from(MUELLER, 'utf16le')],
	['klingon', Buffer.from(MUELLER, 'latin1')],
])('bytes that are no UTF-8 are read as %s, or as Latin-1', async (charset, body) => {
	response = ok(typed(`application/json; charset=${charset}`), body);
	expect((await run(userGet('1'))).items).toMatchObject([{ name: 'Müller' }]);
});

// As Windows and Java write them (mpv, 3484).
test.each([
	['cp936', 'c8d5b1be', '日本'],
	['MS936', 'c8d5b1be', '日本'],
	['MS949', 'c7d1', '한'],
	['x-windows-949', 'c7d1', '한'],
	['EUC_KR', 'c7d1', '한'],
	['EUC_JP', 'c6fccbdc', '日本'],
	['ISO_8859_2', 'b3', 'ł'],
])('the character set %s is read as what it is', async (charset, bytes, name) => {
	const body = Buffer.from(`7b226e616d65223a22${bytes}227d`, 'hex');
	response = ok(typed(`application/json; charset=${charset}`), body);
	expect((await run(userGet('1'))).items).toEqual([{ name }]);
});

// .NET's StringWriter names UTF-16, and PHP's substr cuts an emoji.
const CUT = Buffer.concat([
	Buffer.from(MUELLER.slice(0, -3)),
	Buffer.from([0xf0, 0x9f]),
	Buffer.from('"}}'),
]);
const BOM = Buffer.from([0xff, 0xfe]);
test.each([
	['UTF-8 that is labelled utf-16', 'utf-16', Buffer.from(MUELLER)],
	['UTF-8 that is labelled utf-16le', 'utf-16le', Buffer.from(`${MUELLER} `)],
	['UTF-16 with a byte order mark', '', Buffer.concat([BOM, Buffer.from(MUELLER, 'utf16le')])],
	['UTF-8 with half an emoji', 'utf-8', CUT],
	['UTF-8 with half an emoji, without a label', '', CUT],
])('%s keeps its letters', async (_, charset, body) => {
	const type = charset ? `application/json; charset=${charset}` : 'application/json';
	response = ok(typed(type), body);
	const [item] = (await run(userGet('1'))).items;
	expect(String(item!.name)).toMatch(/^Müller/);
});

test.each(WRONG)(
	'the label %s costs neither a confirmation nor the code of a refusal',
	async (set) => {
		const type = typed(`application/json; charset=${set}`);
		response = ok(type, JSON.stringify({ status: 'success', data: { plan_id: upgrade.planId } }));
		expect((await run(upgrade)).items).toMatchObject([{ plan_id: upgrade.planId }]);
		response = ok(type, JSON.stringify({ status: 'error', errorCode: 'plan-upgrade-2' }), 401);
		expect((await run(upgrade)).error?.message).toContain('plan-upgrade-2');
	},
);

const packedTwice = { 'Content-Encoding': 'gzip' };
test.each([
	['without a label, as some proxies send it', {}, gzipSync],
	[
		'twice, as a CDN in front of a server that packs',
		packedTwice,
		(body: Buffer) => gzipSync(gzipSync(body)),
	],
] as const)('a response packed %s costs neither data nor an outcome', async (_, headers, pack) => {
	response = ok(headers, pack(Buffer.from(MUELLER)));
	expect((await run(userGet('1'))).items).toMatchObject([{ name: 'Müller' }]);
	const confirmed = { status: 'success', data: { plan_id: upgrade.planId } };
	response = ok(headers, pack(Buffer.from(JSON.stringify(confirmed))));
	expect((await run(upgrade)).items).toMatchObject([{ plan_id: upgrade.planId, billed: true }]);
	const refused = { status: 'error', errorCode: 'plan-upgrade-2' };
	response = ok(headers, pack(Buffer.from(JSON.stringify(refused))), 401);
	expect((await run(upgrade)).error?.message).toContain('plan-upgrade-2');
});

test.each([
	['damaged', gzipSync(MUELLER).subarray(0, -9)],
	['longer than 16 MB', gzipSync(Buffer.alloc(17 * 1024 * 1024, ' '))],
])('gzip that is %s is no JSON', async (_, body) => {
	response = ok({}, body);
	expect((await run(userGet('1'))).error?.message).toContain('The response is not JSON');
});

const FILE = `%PDF-1.7 ${'resume '.repeat(40)}`;
const BASE64 = btoa(FILE);
const PDF = typed('application/pdf');
const download = async () => {
	const { error, outputs } = await run({ ...fixed, options: { retries: 0 } });
	const file = outputs[0]?.[0]?.binary?.data;
	return {
		message: error?.message,
		text: file && Buffer.from(file.data, 'base64').toString(),
		fileName: file?.fileName,
	};
};
const link = () => fileHost.credential().baseUrl.replace('/v1', '/cv');

test.each([
	['plain base64', BASE64],
	['base64 in lines', BASE64.replace(/.{76}/g, '$&\r\n')],
	['base64 in quotation marks', JSON.stringify(BASE64)],
	['a data URL', `data:application/pdf;base64,${BASE64}`],
	['a data URL with a blank (ml-archive/data-uri, 15)', `data:application/pdf;base64, ${BASE64}`],
	['a PDF behind a line of a web server', `\r\n${FILE}`],
])('%s under application/pdf is stored as the PDF that it is', async (name, body) => {
	response = ok(PDF, body);
	const expected = name.includes('behind') ? body : FILE;
	expect((await download()).text).toBe(expected);
	hosted = response;
	response = http(302, { Location: link() });
	expect((await download()).text).toBe(expected);
});

// serverless-express, issue 39, and three other adapters of AWS Lambda.
test.each([
	'application/octet-stream',
	'',
	'text/plain',
	'application/json',
	'binary/octet-stream',
])(
	'base64 of a PDF or a Word file under the type %j is stored as the file that it is',
	async (type) => {
		for (const file of [FILE, `PK${FILE}`]) {
			for (const body of [btoa(file), JSON.stringify(btoa(file))]) {
				response = ok(type ? typed(type) : {}, body);
				expect((await download()).text).toBe(file);
			}
		}
	},
);

test.each([
	'The resume is being rendered',
	'{"status":"pending"}',
	'{"status":"error","errorMessage":"no %PDF- header"}',
	'<!doctype html><p>No %PDF- here',
	'<html>Sign in</html>',
	btoa('x'.repeat(300)),
	'Invalid PDF: no %PDF- header found',
	// As programs make it that take the bytes for UTF-8 (powertools-lambda-typescript, 5698).
	'%PDF-1.7\n%\ufffd\ufffd\ufffd\ufffd\n1 0 obj',
])('%s under application/pdf is no file, directly and behind a redirect', async (body) => {
	const attached: Headers = { 'Content-Disposition': 'attachment; filename=cv.pdf' };
	for (const disposition of [{}, attached]) {
		response = ok({ ...PDF, ...disposition }, body);
		expect((await download()).message).toMatch(/^(The response|The service reported)/);
		hosted = response;
		response = http(302, { Location: link() });
		expect((await download()).message).toBe("The response from the file's host is not a file");
	}
});

test.each(['<html>Sign in</html>', '{"message":"not ready"}', 'Error: timeout'])(
	'%s is no file under a name that ends in .pdf, which declares a PDF',
	async (body) => {
		for (const type of ['application/octet-stream', 'text/html', 'application/json', 'text/csv']) {
			for (const name of ['CV.PDF', '"cv.pdf "', 'cv.pdf.']) {
				const attached = { 'Content-Disposition': `attachment; filename=${name}` };
				response = ok({ ...typed(type), ...attached }, body);
				expect((await download()).message).toMatch(/^The response/);
			}
		}
	},
);

test('JSON with base64, named as the PDF that it holds, is stored as that PDF', async () => {
	const attached = { 'Content-Disposition': 'attachment; filename=cv.pdf' };
	const json = typed('application/json');
	response = ok({ ...json, ...attached }, JSON.stringify({ status: 'success', data: BASE64 }));
	expect((await download()).text).toBe(FILE);
});

test('a type that a proxy has written twice counts once', async () => {
	response = ok(typed('application/pdf,application/pdf'), 'Not ready');
	expect((await download()).message).toBe('The response from the service is not a file');
});

test.each([
	['attachment; filename=cv', 'cv.pdf'],
	['attachment; filename="Jane Doe, CV"', 'Jane Doe, CV.pdf'],
	['attachment; filename=.pdf', 'resume.pdf'],
	['attachment; filename="Dr. Ann Smith"', 'Dr. Ann Smith'],
	['attachment; filename=cv.docx', 'cv.docx'],
])('a PDF named by %j is saved as %j', async (disposition, name) => {
	response = ok({ ...PDF, 'Content-Disposition': disposition }, FILE);
	expect((await download()).fileName).toBe(name);
});

test('a sentence under text/rtf is no file', async () => {
	response = ok(typed('text/rtf'), 'Session expired');
	expect((await download()).message).toBe('The response from the service is not a file');
});

test.each(['application/rtf', 'text/rtf', 'application/msword', 'application/octet-stream'])(
	'RTF is a file under the type %s',
	async (type) => {
		response = ok(typed(type), '{\\rtf1 Ann}');
		expect((await download()).text).toBe('{\\rtf1 Ann}');
	},
);

test.each(['aws-chunked', 'none', 'utf-8', 'base64', 'binary', 'identity, identity'])(
	'a PDF that is labelled %s, as files of S3, is stored',
	async (encoding) => {
		response = ok({ ...PDF, 'Content-Encoding': encoding }, FILE);
		expect((await download()).text).toBe(FILE);
	},
);

test.each(['gzip, gzip', 'lz4'])(
	'a file that is still packed by %s is an error',
	async (encoding) => {
		response = ok({ ...PDF, 'Content-Encoding': encoding }, gzipSync(FILE));
		expect((await download()).message).toBe(`The file arrived compressed (${encoding})`);
	},
);

// gzip keeps what it can't compress, such as a scan, so that the signature is still in the first bytes.
const SCAN = gzipSync(Buffer.concat([Buffer.from('%PDF-1.7 '), randomBytes(5_000)]));
test.each([
	['gzip without a label', undefined, SCAN, 'gzip'],
	[
		'gzip as the AWS SDK labels it (aws-sdk-java-v2, issue 4746)',
		'gzip,aws-chunked',
		SCAN,
		'gzip,aws-chunked',
	],
	['zstd without a label', undefined, Buffer.from('28b52ffd0102%PDF-', 'latin1'), ''],
])('a scanned PDF in %s is not stored', async (name, label, body, encoding) => {
	const bytes = name.startsWith('zstd')
		? Buffer.concat([Buffer.from('28b52ffd', 'hex'), Buffer.from(FILE)])
		: body;
	response = ok({ ...PDF, ...(label && { 'Content-Encoding': label }) }, bytes);
	expect((await download()).message).toBe(`The file arrived compressed (${encoding || 'zstd'})`);
});

const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
test.each<[string, Headers]>([
	['without a label', {}],
	['labelled identity', { 'Content-Encoding': 'identity' }],
])('a Word file in gzip, %s, is not stored', async (_, label) => {
	response = ok({ ...typed(WORD), ...label }, gzipSync(randomBytes(2_000)));
	expect((await download()).message).toBe('The file arrived compressed (gzip)');
});

// API Gateway leaves base64 packed (serverless-java-container, 257; apig-wsgi, 121).
test.each([WORD, 'application/zip', 'image/png', 'application/pdf'])(
	'base64 that is declared as %s is stored as the file that it is',
	async (type) => {
		const file = type.endsWith('pdf') ? Buffer.from(FILE) : Buffer.from(`PK${FILE}`);
		const attached: Headers = { 'Content-Disposition': 'attachment' };
		for (const disposition of [{}, attached]) {
			response = ok({ ...typed(type), ...disposition }, file.toString('base64'));
			expect((await download()).text).toBe(file.toString());
		}
	},
);

test('base64 is decoded in quotes, in a data URL and in indented lines, too', async () => {
	const file = Buffer.from(`PK${FILE.repeat(20)}`);
	const base64 = file.toString('base64');
	for (const body of [
		JSON.stringify(base64),
		`data:${WORD};base64,${base64}`,
		base64.replace(/.{76}/g, '$&\r\n  '),
	]) {
		response = ok(typed(WORD), body);
		expect((await download()).text).toBe(file.toString());
	}
});

test('a table of one column that Excel is said to have made is kept, although it looks like base64', async () => {
	for (const rows of [20, 21, 22, 23]) {
		const text = `Name\r\n${'Anton0\r\nBerta1\r\n'.repeat(rows)}`;
		response = ok(
			{ ...typed('application/vnd.ms-excel'), 'Content-Disposition': 'attachment' },
			text,
		);
		expect((await download()).text).toBe(text);
	}
});

test('a file whose start has letters of base64 alone is kept if it may be a text', async () => {
	const lines = 'Candidate0xYzAbCdEf\n'.repeat(100);
	for (const text of [
		'a'.repeat(3_000),
		'0123456789abcdef'.repeat(200),
		lines,
		`${lines}Ann, CV`,
	]) {
		response = ok(typed('application/octet-stream'), text);
		expect((await download()).text).toBe(text);
	}
});

const DENIED = { status: 'error', errorCode: 'plan-upgrade-3' };
test.each(['gzip', 'br', 'zstd', 'deflate'])(
	'a plain 401 or 404 that is labelled %s keeps its status',
	async (encoding) => {
		const headers = { 'Content-Encoding': encoding };
		response = ok(headers, '<html>Not found</html>', 404);
		const read = await run({ ...userGet('1'), options: { retries: 0 } });
		expect(read.error?.message).toBe('The service has nothing at this address (HTTP 404)');
		response = ok(headers, JSON.stringify(DENIED), 401);
		const node = { onError: 'continueErrorOutput' } as const;
		const { failures } = await run(upgrade, { node });
		// Its body breaks off for n8n, so that nobody knows what it said.
		expect(failures).toMatchObject([{ httpStatus: 401, outcome: 'unknown' }]);
	},
);

test("UTF-8 in a Location of the file's host is requested as its letters", async () => {
	hosted = (path) => {
		if (path.includes('M%C3%BCller')) return ok(PDF, FILE);
		const location = Buffer.from('/Müller').toString('latin1');
		return Buffer.from(http(302, { Location: location }), 'latin1');
	};
	response = http(302, { Location: link() });
	expect((await download()).text).toBe(FILE);
	hosted = () => http(302, { Location: link() });
	expect((await download()).message).toBe("The file's link can't be followed");
});

test('UTF-8 in a Location is requested as its letters', async () => {
	hosted = ok(PDF, FILE);
	const location = Buffer.from(`${link()}/Müller`).toString('latin1');
	response = Buffer.from(http(302, { Location: location }), 'latin1');
	expect((await download()).text).toBe(FILE);
	expect(fileHost.requests[0]!.path).toBe('/cv/M%C3%BCller');
});

test.each([
	["attachment; filename*=ISO-8859-1''R%E9sum%E9.pdf", 'Résumé.pdf'],
	['filename="cv.pdf"', 'cv.pdf'],
	['attachment, filename="cv.pdf"', 'cv.pdf'],
	['attachment; filename="=?UTF-8?B?UsOpc3Vtw6kucGRm?="', 'Résumé.pdf'],
	['attachment; filename="=?iso-8859-1?Q?R=E9sum=E9_1.pdf?="', 'Résumé 1.pdf'],
	['attachment; filename="=?UTF-8?Q?R=C3=A9?= =?UTF-8?Q?sum=C3=A9.pdf?="', 'Résumé.pdf'],
	["attachment; filename*=UTF-8''100%.pdf", '100%.pdf'],
	["attachment; filename*=windows-1251''%F0%E5%E7.pdf", 'рез.pdf'],
	["attachment; filename*=UTF8''R%C3%A9.pdf", 'Ré.pdf'],
	["attachment; filename*=''R%C3%A9.pdf", 'Ré.pdf'],
	["attachment; filename=UTF-8''R%C3%A9.pdf", 'Ré.pdf'],
	["attachment; filename=cv.pdf, filename*=UTF-8''R%C3%A9.pdf", 'Ré.pdf'],
	['attachment; filename="R%C3%A9sum%C3%A9.pdf"', 'Résumé.pdf'],
	['attachment; filename="=?UTF-8?B?UsM=?= =?UTF-8?B?qS5wZGY=?="', 'Ré.pdf'],
	['inline', 'resume.pdf'],
])(
	'the file name, as Java, PHP, Python and mail servers write it, of %s is %s',
	async (disposition, name) => {
		response = ok({ ...PDF, 'Content-Disposition': disposition }, FILE);
		expect((await download()).fileName).toBe(name);
	},
);

test('JSON nested 20,000 deep is an error that says so', async () => {
	response = ok({}, `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`);
	expect((await run(userGet('1'))).error?.message).toBe('The response is nested too deeply');
});

describe('a claim whose answer is lost', () => {
	const keyed = { ...upgrade, sendOnceKey: 'pay_1' };
	const confirmed = json({ status: 'success', data: { plan_id: upgrade.planId } });
	beforeEach(() => {
		processedData.clear();
		response = confirmed;
	});

	test('is never sent: nobody can tell whose it is', async () => {
		processedData.loseAnswer(3);
		const node = { onError: 'continueErrorOutput' } as const;
		expect((await run(keyed, { node })).failures).toMatchObject([{ id: 'key.maybeUsed' }]);
		expect((await run(keyed, { node })).failures).toMatchObject([{ id: 'key.claimed' }]);
		expect(requests).toEqual([]);
	}, 30_000);

	test('may be used up if the database stays away', async () => {
		processedData.loseAnswer(Infinity);
		const { failures } = await run(keyed, { node: { onError: 'continueErrorOutput' } });
		expect(failures).toMatchObject([{ id: 'key.maybeUsed', outcome: 'refused' }]);
		expect(requests).toEqual([]);
	}, 20_000);

	test('of another execution is never taken', async () => {
		await Promise.all([run(keyed), run(keyed)]);
		processedData.loseAnswer(1);
		await run(keyed);
		expect(requests).toHaveLength(1);
	}, 20_000);

	test('of another execution is not removed by the repetition of a removal', async () => {
		const remove = processedData.clearAllProcessedItems.bind(processedData);
		let removals = 0;
		let second: Promise<unknown> | undefined;
		const lost = jest.spyOn(processedData, 'clearAllProcessedItems');
		lost.mockImplementation(async (...given) => {
			await remove(...given);
			if (removals++ > 0) return;
			// Another execution claims the released key. Its upgrade may be billed.
			response = '';
			second = run(keyed);
			throw new Error('The connection is lost');
		});
		response = http(400, { 'Content-Length': '0' });
		await run(keyed);
		await second;
		response = confirmed;
		const { failures } = await run(keyed, { node: { onError: 'continueErrorOutput' } });
		expect(failures).toMatchObject([{ id: 'key.claimed' }]);
		expect(requests).toHaveLength(2);
		lost.mockRestore();
	}, 30_000);

	test('of one of two executions at once is sent once, or said to be unclear', async () => {
		processedData.loseAnswer(2);
		const node = { onError: 'continueErrorOutput' } as const;
		const runs = await Promise.all([run(keyed, { node }), run(keyed, { node })]);
		const ids = runs.flatMap(({ failures }) => failures.map((failure) => failure.id));
		expect(requests.length).toBeLessThanOrEqual(1);
		expect(requests.length === 1 || ids.includes('key.maybeUsed')).toBe(true);
	}, 20_000);
});
