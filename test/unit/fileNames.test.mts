import { dispositionOf, safeFileName } from '../../nodes/ResumeManagement/responses/fileNames.ts';

const read = (header: string) => dispositionOf({ 'content-disposition': header });

test.each([
	// Chrome and Firefox accept an extended name in quotes.
	[`attachment; filename*="UTF-8''%E2%82%AC%20rates.pdf"`, '€ rates.pdf'],
	['attachment; filename=My Resume.pdf', 'My Resume.pdf'],
	// Node.js reads a header with a name in UTF-8 like this.
	[`attachment; filename="${Buffer.from('Müller 履.pdf').toString('latin1')}"`, 'Müller 履.pdf'],
	['attachment; filename="M\xfcller.pdf"', 'Müller.pdf'],
	['attachment; filename="a \\"cv\\"; 1.pdf"', 'a "cv"; 1.pdf'],
	['inline;FILENAME = cv.pdf ;x=y', 'cv.pdf'],
	['attachment filename=bar', ''],
	// As bcosca/fatfree, issue 862, sent it.
	["attachment; filename='cv.pdf'", 'cv.pdf'],
	['attachment; filename="bar', '"bar'],
	['attachment; filename=""cv.pdf""', '""cv.pdf""'],
	// Internet Explorer and old mail programs send the whole path.
	['attachment; filename="C:\\Users\\Ann\\cv.pdf"', 'C:\\Users\\Ann\\cv.pdf'],
	[`attachment; filename*=UTF-8''%; filename="good.pdf"`, 'good.pdf'],
	[`attachment; filename*=utf-16''%00a; filename="good.pdf"`, 'good.pdf'],
	[`attachment; filename*=UTF-8''; filename="good.pdf"`, 'good.pdf'],
	// encodeURIComponent leaves brackets alone, which RFC 8187 does not allow.
	[`attachment; filename*=UTF-8''Resume%20(1).pdf`, 'Resume (1).pdf'],
])('the file name in %s is %s', (header, name) => {
	expect(read(header).fileName).toBe(name);
});

const ATTACHED = ['attachment', ' Attachment ;filename=a.json'];
const OTHERS = ['inline; filename="attachment"', 'filename="attachment;"', ''];
test.each([...ATTACHED, ...OTHERS])('%j is an attachment, or not, by its first word', (header) => {
	expect(read(header).isAttachment).toBe(ATTACHED.includes(header));
});

test.each([
	['../../etc/passwd', 'passwd'],
	['C:\\temp\\cv.pdf', 'cv.pdf'],
	['.. . ', ''],
	['.pdf', ''],
	['..DOCX', ''],
	['.profile', 'profile'],
	['cv.pdf. .', 'cv.pdf'],
	['a\u202efdp.exe', 'afdp.exe'],
	['\u200d', ''],
	['e\u0301.pdf', '\u00e9.pdf'],
	['a\0<b>:"c"|\n?\u2028*\ud83d\udcbc\ud83d.pdf', 'abc💼.pdf'],
	['\u200d.👩\u200d💻 \u200d', '👩\u200d💻'],
	[`${'x'.repeat(250)} ${'y'.repeat(9)}.pdf`, `${'x'.repeat(250)}.pdf`],
	['\u0301'.repeat(300), '\u0301'.repeat(127)],
	[`${'漢'.repeat(200)}.pdf`, `${'漢'.repeat(83)}.pdf`],
	[`${'x'.repeat(250)}💼.pdf`, `${'x'.repeat(250)}.pdf`],
	[`${'x'.repeat(100_000)}.docx`, `${'x'.repeat(250)}.docx`],
])('the safe file name of %j is %j', (name, safe) => {
	expect(safeFileName(name)).toBe(safe);
});
