import { parse } from 'content-disposition';
import fc from 'fast-check';

import { safeFileName } from '../../nodes/ResumeManagement/download/fileName.ts';
import { readDisposition, readMimeType } from '../../nodes/ResumeManagement/download/headers.ts';
import publicCases from './contentDisposition.json' with { type: 'json' };

const nameOf = (header: string) => readDisposition(header).names[0] ?? '';

describe('the file name of a Content-Disposition header', () => {
	/** Where this package reads a header otherwise than jshttp/content-disposition, and why. */
	const differences: Record<string, string> = {
		// Chrome and Firefox take an extended name in quotes, and a service that sends one means it.
		[`attachment; filename*="UTF-8''%E2%82%AC%20rates.pdf"`]: '€ rates.pdf',
		[`attachment; filename*="UTF-8''foo-%c3%a4.html"`]: 'foo-ä.html',
	};

	test.each(Object.entries(publicCases.cases as Record<string, string | null>))(
		'%j is %j',
		(header, expected) => {
			expect(nameOf(header)).toBe(differences[header] ?? expected ?? '');
		},
	);

	test('differs from the public cases only where the list says so', () => {
		const cases = publicCases.cases as Record<string, string | null>;
		for (const [header, ours] of Object.entries(differences)) {
			expect(Object.keys(cases)).toContain(header);
			expect(cases[header]).not.toBe(ours);
		}
	});

	test('is what jshttp/content-disposition reads from what it may read, whatever stands there', () => {
		const pieces = [
			...['attachment', 'inline', ';', '; ', '=', '"', '\\', "'", "''", '*', '%', ' ', '\t', ','],
			...['filename', 'FileName', 'filename*', 'filename=', 'filename*=', 'x=', "UTF-8''", 'utf8'],
			...["iso-8859-1'en'", 'cv.pdf', 'My Resume.pdf', '%C3%A9', '%E9', '%zz', 'é', '.'],
		];
		const headers = fc.array(fc.constantFrom(...pieces)).map((parts) => parts.join(''));
		fc.assert(
			fc.property(headers, (header) => {
				// The differences above, and what version 3 has mended there.
				fc.pre(!/filename\*\s*=\s*"/i.test(header) && !/iso.*%(?![\da-f]{2})/i.test(header));
				expect(nameOf(header)).toBe(parse(header).parameters.filename ?? '');
			}),
			{ numRuns: 5_000 },
		);
	});

	test.each([
		['attachment; filename=My Resume.pdf', ['My Resume.pdf']],
		[`attachment; filename="good.pdf"; filename*=UTF-8''%ff`, ['good.pdf']],
		[`attachment; filename*=UTF-8''%; filename="good.pdf"`, ['good.pdf']],
		[`attachment; filename*=utf-16''%00a; filename="good.pdf"`, ['good.pdf']],
		[`attachment; filename*=bad.pdf; filename="good.pdf"`, ['good.pdf']],
		[`attachment; filename*=UTF-8''; filename="good.pdf"`, ['good.pdf']],
		// encodeURIComponent leaves brackets alone, which RFC 8187 does not allow.
		[`attachment; filename*=UTF-8''Resume%20(1).pdf`, ['Resume (1).pdf']],
		[`attachment; filename*=UTF-8''..; filename="good.pdf"`, ['..', 'good.pdf']],
	])('%s has the names %j', (header, names) => {
		expect(readDisposition(header).names).toEqual(names);
	});

	test.each([
		['attachment', true],
		[' Attachment ;filename=a.json', true],
		['inline; filename="attachment"', false],
		['filename="attachment;"', false],
		[undefined, false],
	])('%s is an attachment: %s', (header, attachment) => {
		expect(readDisposition(header).attachment).toBe(attachment);
	});
});

describe('a safe file name', () => {
	const letters = fc.constantFrom(
		...['a', '.', ' ', '/', '\\', '\0', '\n', '"', '<', '|', 'é', 'e\u0301', '漢', '💼', '\ud83d'],
		...['\udcbc', '👩\u200d💻', '\u200d', '\u202e', '\u2028', '.pdf', 'con', 'x'.repeat(100)],
		...['💼'.repeat(60), '🇨🇭', '\u0301'.repeat(300)],
	);
	const names = fc.oneof(
		fc.array(letters).map((parts) => parts.join('')),
		fc.string({ unit: 'binary', maxLength: 400 }),
	);

	test('has at most 255 bytes, no half character, and nothing that a file system refuses', () => {
		fc.assert(
			fc.property(names, (name) => {
				const safe = safeFileName(name);
				expect(Buffer.byteLength(safe)).toBeLessThanOrEqual(255);
				expect(safe.isWellFormed()).toBe(true);
				expect(safe).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}<>:"|?*/\\\u202e]/u);
				expect(safe).not.toMatch(/^[.\s]|[.\s]$/);
				expect(safe).not.toMatch(/^(con|nul)(\.|$)/i);
				expect(safeFileName(safe)).toBe(safe);
			}),
			{ numRuns: 2_000 },
		);
	});

	test('is cut between characters as they are seen, and keeps its extension', () => {
		const seen = fc.constantFrom('a', 'é', '漢', '💼', '👩\u200d💻', '🇨🇭', 'n\u0303');
		const long = fc.array(seen, { minLength: 300, maxLength: 600 }).map((parts) => parts.join(''));
		fc.assert(
			fc.property(long, (stem) => {
				const safe = safeFileName(`${stem}.pdf`);
				expect(safe).toMatch(/\.pdf$/);
				expect(Buffer.byteLength(safe)).toBeGreaterThan(220);
				const segments = (text: string) =>
					[...new Intl.Segmenter().segment(text)].map(({ segment }) => segment);
				const kept = segments(safe.slice(0, -4));
				expect(kept).toEqual(segments(stem.normalize('NFC')).slice(0, kept.length));
			}),
		);
	});

	test.each([
		['../../etc/passwd', 'passwd'],
		['C:\\temp\\cv.pdf', 'cv.pdf'],
		['..', ''],
		['.. . ', ''],
		['cv.pdf. .', 'cv.pdf'],
		['a\u202efdp.exe', 'afdp.exe'],
		['CON.pdf', '_CON.pdf'],
		['console.pdf', 'console.pdf'],
		['\u200d', ''],
		['e\u0301.pdf', '\u00e9.pdf'],
		[`${'漢'.repeat(200)}.pdf`, `${'漢'.repeat(83)}.pdf`],
		[`${'x'.repeat(250)}💼.pdf`, `${'x'.repeat(250)}.pdf`],
		[`${'x'.repeat(100_000)}.docx`, `${'x'.repeat(250)}.docx`],
	])('of %j is %j', (name, safe) => {
		expect(safeFileName(name)).toBe(safe);
	});
});

test.each([
	['application/pdf; charset=binary', 'application/pdf'],
	[' Application/PDF ', 'application/pdf'],
	['pdf', ''],
	['text/html\r\nx: y', ''],
	[undefined, ''],
	[`a/${'b'.repeat(1_000)}`, ''],
])('the media type of %j is %j', (header, type) => {
	expect(readMimeType(header)).toBe(type);
});
