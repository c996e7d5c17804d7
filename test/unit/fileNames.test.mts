import fc from 'fast-check';

import { readDisposition, safeFileName } from '../../nodes/ResumeManagement/output/fileName.ts';

const read = (header: string) => readDisposition({ 'content-disposition': header });

test.each([
	// Chrome and Firefox accept an extended name in quotes.
	[`attachment; filename*="UTF-8''%E2%82%AC%20rates.pdf"`, '€ rates.pdf'],
	['attachment; filename=My Resume.pdf', 'My Resume.pdf'],
	// As Node.js reads a header with a name in UTF-8.
	[`attachment; filename="${Buffer.from('Müller 履.pdf').toString('latin1')}"`, 'Müller 履.pdf'],
	['attachment; filename="M\xfcller.pdf"', 'Müller.pdf'],
	['attachment; filename="a \\"cv\\"; 1.pdf"', 'a "cv"; 1.pdf'],
	['inline;FILENAME = cv.pdf ;x=y', 'cv.pdf'],
	['attachment filename=bar', ''],
	['attachment; filename="bar', ''],
	[`attachment; filename*=UTF-8''%; filename="good.pdf"`, 'good.pdf'],
	[`attachment; filename*=utf-16''%00a; filename="good.pdf"`, 'good.pdf'],
	[`attachment; filename*=UTF-8''; filename="good.pdf"`, 'good.pdf'],
	// encodeURIComponent leaves brackets alone, which RFC 8187 does not allow.
	[`attachment; filename*=UTF-8''Resume%20(1).pdf`, 'Resume (1).pdf'],
])('the file name in %s is %s', (header, name) => {
	expect(read(header).fileName).toBe(name);
});

test.each([
	['attachment', true],
	[' Attachment ;filename=a.json', true],
	['inline; filename="attachment"', false],
	['filename="attachment;"', false],
	['', false],
])('%s is an attachment: %s', (header, attachment) => {
	expect(read(header).isAttachment).toBe(attachment);
});

test.each([
	['../../etc/passwd', 'passwd'],
	['C:\\temp\\cv.pdf', 'cv.pdf'],
	['.. . ', ''],
	['cv.pdf. .', 'cv.pdf'],
	['a\u202efdp.exe', 'afdp.exe'],
	['\u200d', ''],
	['e\u0301.pdf', '\u00e9.pdf'],
	[`${'漢'.repeat(200)}.pdf`, `${'漢'.repeat(83)}.pdf`],
	[`${'x'.repeat(250)}💼.pdf`, `${'x'.repeat(250)}.pdf`],
	[`${'x'.repeat(100_000)}.docx`, `${'x'.repeat(250)}.docx`],
])('the safe file name of %j is %j', (name, safe) => {
	expect(safeFileName(name)).toBe(safe);
});

const parts = fc.constantFrom(
	...['a', '.', ' ', '/', '\\', '\0', '\n', '"', '<', '|', 'é', 'e\u0301', '漢', '💼', '\ud83d'],
	...['\udcbc', '👩\u200d💻', '\u200d', '\u202e', '\u2028', '.pdf', 'x'.repeat(100)],
	...['💼'.repeat(60), '🇨🇭', '\u0301'.repeat(300)],
);
const names = fc.oneof(fc.string({ unit: parts }), fc.string({ unit: 'binary', maxLength: 400 }));

test('a safe file name has at most 255 bytes, no half character, and nothing that a file system refuses', () => {
	const property = fc.property(names, (name) => {
		const safe = safeFileName(name);
		expect(Buffer.byteLength(safe)).toBeLessThanOrEqual(255);
		expect(safe.isWellFormed()).toBe(true);
		expect(safe).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}<>:"|?*/\\\u202e]/u);
		expect(safe).not.toMatch(/^[.\s]|[.\s]$/);
		expect(safeFileName(safe)).toBe(safe);
	});
	fc.assert(property, { numRuns: 2_000 });
});
