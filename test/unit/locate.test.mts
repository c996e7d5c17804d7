import fc from 'fast-check';

import { locateFile } from '../../nodes/ResumeManagement/download/locate.ts';

const LINK = 'https://files.example.com/cv.pdf?signature=1';
const OTHER = 'http://10.0.0.1/latest/meta-data';
const BASE64 = Buffer.from(`%PDF-1.7 ${'resume '.repeat(40)}`).toString('base64');

type Answer = Parameters<typeof locateFile>[0];
const linkIn = (answer: unknown) => locateFile(answer as Answer) as { link?: string } | undefined;
const base64In = (answer: unknown) => locateFile(answer as Answer) as { base64?: string };

describe('a link is followed', () => {
	test.each([
		{ fileUrl: LINK },
		{ file_url: LINK },
		{ FILE_URL: LINK },
		{ fileURL: LINK },
		{ fileurl: LINK },
		{ 'file-url': LINK },
		{ file: LINK },
		{ downloadUrl: LINK },
		{ download: LINK },
		{ download_link: LINK },
		{ resume_file: LINK },
		{ signedDownloadUrl: LINK },
		{ data: { resume: { fileUrl: LINK } } },
		{ data: { file: { url: LINK, name: 'cv.pdf' } } },
		{ download: { href: LINK } },
		{ downloads: { pdf: LINK } },
		{ files: [{ url: LINK }] },
		{ files: [LINK] },
		{ url: LINK },
		[{ url: LINK }],
		{ status: 'success', data: { url: LINK } },
		{ data: { presignedUrl: LINK } },
		{ data: { resumeUrl: LINK } },
		{ data: { link: LINK } },
		// The same one twice is one.
		{ fileUrl: LINK, file: { url: LINK } },
		// A name of the file goes before one that is only about the answer.
		{ url: OTHER, fileUrl: LINK },
	])('in %j', (answer) => {
		expect(linkIn(answer)).toEqual({ link: LINK });
	});
});

describe('a link is not followed', () => {
	test.each([
		{ profile: OTHER },
		{ website: OTHER },
		{ candidate: { website: OTHER } },
		{ candidate: { url: OTHER } },
		{ data: { user: { link: OTHER } } },
		{ data: { data: { url: OTHER } } },
		{ resume: { url: OTHER } },
		{ data: { candidate: { resumeUrl: OTHER } } },
		{ profileUrl: OTHER },
		{ fileOwnerWebsite: OTHER },
		{ fileThumbnailUrl: OTHER },
		{ uploadFileUrl: OTHER },
		{ file: { owner: OTHER } },
		{ file: { owner: { url: OTHER } } },
		{ fileName: OTHER },
		{ '': OTHER },
		OTHER,
		[OTHER],
		// Which of two is the file, nobody knows.
		{ fileUrl: LINK, downloadUrl: OTHER },
		{ files: [LINK, OTHER] },
		{ fileUrl: 'ftp://example.com/cv.pdf' },
		{ fileUrl: 'javascript:alert(1)' },
		{ fileUrl: '/files/cv.pdf' },
		{ fileUrl: `${LINK} and more` },
		{ fileUrl: `https://example.com/${'x'.repeat(10_000)}` },
	])('in %j', (answer) => {
		expect(linkIn(answer)).toBeUndefined();
	});
});

describe('base64 is taken', () => {
	test.each([
		{ content: BASE64 },
		{ status: 'success', data: BASE64 },
		{ data: { content: BASE64 } },
		{ data: { fileContent: BASE64 } },
		{ data: { resume: { content: BASE64 } } },
		{ data: { resume: BASE64 } },
		{ data: { pdf_base64: BASE64 } },
		{ file: { data: BASE64 } },
		{ content: BASE64.replace(/.{76}/g, '$&\r\n') },
		{ content: `${BASE64}\n` },
		{ content: BASE64.replace(/=+$/, '') },
		{ content: BASE64, fileUrl: LINK, website: OTHER },
		{ content: BASE64, photo: `${BASE64}AAAA` },
	])('from %j', (answer) => {
		const { base64 } = base64In(answer);
		expect(Buffer.from(base64!, 'base64').toString()).toBe(
			Buffer.from(BASE64, 'base64').toString(),
		);
	});

	test('with the name and the type beside it', () => {
		const answer = { file: { content: BASE64, fileName: 'cv.pdf', mime_type: 'application/pdf' } };
		expect(locateFile(answer)).toEqual({
			base64: BASE64,
			name: 'cv.pdf',
			mimeType: 'application/pdf',
		});
	});
});

test.each([
	{ photo: BASE64 },
	{ photo: { data: BASE64 } },
	{ data: { candidate: { content: BASE64 } } },
	{ data: { fileChecksum: BASE64 } },
	{ content: 'a'.repeat(128) },
	{ content: 'experienced engineer with many years '.repeat(8) },
	{ content: BASE64.slice(0, 100) },
	{ content: `${BASE64.slice(0, -4)}=AAA` },
	{ content: `${BASE64}!` },
	{ content: BASE64, file: { content: BASE64.slice(4) }, pdf: BASE64.slice(8) },
])('nothing is taken from %j', (answer) => {
	expect(locateFile(answer as Answer)).toBeUndefined();
});

describe('whatever an answer holds', () => {
	/** Names that do not tell of the file, neither alone nor in each other. */
	const names = fc.constantFrom(
		...['profile', 'website', 'candidate', 'avatarUrl', 'homepage', 'user', 'owner', 'links2'],
		...['fileOwner', 'profile_file', 'thumbnailUrl', 'callbackUrl', 'data2', 'résumé', '__proto__'],
	);
	const texts = fc.oneof(
		fc.constantFrom(OTHER, BASE64, ''),
		fc.webUrl().filter((url) => url !== LINK),
		fc.string(),
	);
	const { record: records } = fc.letrec<{ value: unknown; record: object }>((tie) => ({
		value: fc.oneof({ maxDepth: 4 }, texts, fc.array(tie('value')), tie('record')),
		record: fc.dictionary(names, tie('value')),
	}));

	test('nothing is taken from under a name that tells nothing', () => {
		fc.assert(
			fc.property(records, (answer) => {
				expect(locateFile(answer as Answer)).toBeUndefined();
				expect(locateFile({ status: 'success', data: answer } as Answer)).toBeUndefined();
			}),
			{ numRuns: 1_000 },
		);
	});

	test('it hides neither a link nor a file', () => {
		const file = fc.constantFrom<object>({ fileUrl: LINK }, { file: { content: BASE64 } });
		fc.assert(
			fc.property(file, records, fc.boolean(), (wanted, others, within) => {
				const record = { ...others, ...wanted };
				const answer = within ? { ...others, status: 'success', data: record } : record;
				expect(locateFile(answer as Answer)).toEqual(locateFile(wanted as Answer));
			}),
			{ numRuns: 1_000 },
		);
	});
});
