import { isObject, valueAt } from '../../shared/json';
import { plainName } from '../../shared/names';
import { Failure, type FailureId } from '../../shared/failure';
import type { AnswerBody } from '../http/judge';

/**
 * The first bytes, in hex, of the files that a resume or a picture of one comes in: DOCX and ODT are ZIP, DOC is OLE2
 * (WHATWG's MIME Sniffing Standard; the file command's magic numbers for RTF, OLE2 and TIFF). Readers of PDF and
 * RTF accept a byte order mark and blanks before.
 */
const SIGNATURES: Array<[type: string, start: RegExp]> = [
	['application/pdf', /^(?:efbbbf)?(?:20|09|0a|0d)*255044462d/],
	['application/zip', /^504b0304/],
	['application/x-ole-storage', /^d0cf11e0a1b11ae1/],
	['application/rtf', /^(?:efbbbf)?(?:20|09|0a|0d)*7b5c727466/],
	['image/png', /^89504e470d0a1a0a/],
	['image/jpeg', /^ffd8ff/],
	['image/gif', /^47494638(?:37|39)61/],
	['image/webp', /^52494646.{8}57454250/],
	['image/tiff', /^(?:49492a00|4d4d002a)/],
];

/** What such files are declared as, and called. */
const BINARY_TYPE =
	/^(?:application\/(?:pdf|zip|rtf|msword|vnd\.(?:openxmlformats|oasis).*)|image\/(?!svg).*)$/;
const BINARY_NAME = /\.(?:pdf|zip|docx?|odt|rtf|png|jpe?g|gif|webp|tiff?)$/i;

/** Bytes that a signature may take. */
export const SIGNATURE_BYTES = 16;

/** Bytes that are looked at. */
export const HEAD_BYTES = 4_096;

/** The media type of the file that starts with these bytes; undefined for words, which may stand in its place. */
export function fileTypeOf(bytes: Buffer): string | undefined {
	const start = bytes.toString('hex', 0, SIGNATURE_BYTES);
	const [type] = SIGNATURES.find(([, signature]) => signature.test(start)) ?? [];
	if (type) return type;
	// What the MIME Sniffing Standard calls binary: control characters but for blanks and escape.
	const isBinary = (one: string) => one < ' ' && !'\t\n\f\r\x1b'.includes(one);
	const head = decode(bytes.subarray(0, HEAD_BYTES));
	// Markup and JSON stay words, whatever control character is among them.
	const isFile = !/^\s*[<[{]/.test(head) && [...head].some(isBinary);
	return isFile ? 'application/octet-stream' : undefined;
}

/**
 * The words of these bytes: in UTF-8, or in UTF-16, which a byte order mark tells, or the zeros in the first
 * two characters (RFC 4627, §3).
 */
export function decode(bytes: Buffer): string {
	const start = bytes.toString('hex', 0, 4);
	if (/^(?:fffe|..00..00)/.test(start)) return new TextDecoder('utf-16le').decode(bytes);
	if (/^(?:feff|00..00..)/.test(start)) return new TextDecoder('utf-16be').decode(bytes);
	return new TextDecoder().decode(bytes);
}

/** The media type of a Content-Type header, without its parameters; '' where it has none. */
export function readMimeType(contentType: string): string {
	const type = contentType.split(';', 1)[0]!.trim().toLowerCase();
	// RFC 6838 allows 127 characters on each side of the slash.
	return /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/.test(type) ? type : '';
}

/** Whether the declared type or the name is that of a file which is no text. */
export function isNeverText(mimeType: string, name: string): boolean {
	return BINARY_TYPE.test(mimeType) || BINARY_NAME.test(name);
}

/** Where a JSON answer has its file: behind a link, or in itself. */
export type Located = { link: string } | { bytes: Buffer };

/** Names that a file is looked for under, without case, `_` and `-`. The specification shows none (§4.2). */
const NAMES = ['base64', 'content', 'download', 'downloadurl', 'file', 'fileurl', 'link', 'url'];

/** Characters; shorter texts may be IDs or tokens. */
const SHORTEST_BASE64 = 128;

/**
 * Finds the file in a JSON answer: at `path`, where that is given; else in the one link or base64 text that is
 * the answer's `data`, or has one of the names in the answer or in its `data`.
 * @throws Failure
 */
export function locateFile(answer: AnswerBody, path: string): Located {
	if (path) {
		const value = valueAt(answer, path);
		const located = typeof value === 'string' && (linkOrBytes(value) ?? textOf(value));
		if (located) return located;
		throw notFound('file.notAtPath', answer, path);
	}
	const data = isObject(answer) ? answer.data : undefined;
	const isUsual = (name: string) => NAMES.includes(plainName(name));
	const named = [answer, data].filter(isObject).flatMap((place) =>
		Object.keys(place)
			.filter(isUsual)
			.map((name) => place[name]),
	);
	const texts = [...new Set([data, ...named])].filter((value) => typeof value === 'string');
	const [located, ...others] = texts
		.map(linkOrBytes)
		.filter((one) => one && ('link' in one || fileTypeOf(one.bytes)));
	if (!located) throw notFound('file.none', answer);
	if (others.length > 0) throw notFound('file.several', answer);
	return located;
}

function linkOrBytes(text: string): Located | undefined {
	const link = text.trim();
	if (/^https?:\/\/.{1,8192}$/i.test(link)) return { link };
	const base64 = link
		.replace(/^data:[^,]{0,200};base64,/i, '')
		.replace(/[\r\n][ \t]*/g, '')
		.replaceAll('-', '+')
		.replaceAll('_', '/');
	// A hash in hex is not base64.
	if (base64.length < SHORTEST_BASE64 || !/[^\da-f]/i.test(base64)) return undefined;
	const bytes = Buffer.from(base64, 'base64');
	const padded = bytes.toString('base64');
	return padded.startsWith(base64) && padded.length - base64.length < 3 ? { bytes } : undefined;
}

/** Text with blanks, which an ID or another kind of link has not; binary data sent as text is damaged. */
function textOf(text: string): Located | undefined {
	const bytes = Buffer.from(text);
	return /\s/.test(text.trim()) && !fileTypeOf(bytes) ? { bytes } : undefined;
}

function notFound(id: FailureId, answer: AnswerBody, path = ''): Failure {
	const names = (place: unknown) => (isObject(place) ? Object.keys(place) : []);
	const within = isObject(answer) ? names(answer.data).map((name) => `data.${name}`) : [];
	const shown = [...names(answer), ...within].filter(({ length }) => length < 64).slice(0, 20);
	return new Failure(id, { path, properties: shown.join(', ') }, { httpStatus: 200 });
}
