import { isGzip } from '../http/request';

export const PDF = 'application/pdf';

/** Bytes at the start of a response that show whether it is a file. */
export const FILE_START = 1_024;

/**
 * Tells a file from what may come instead of it, by its first {@link FILE_START} bytes and its
 * declared type.
 * @returns the type of the file, '' if nothing declares it; undefined for no file
 */
export function fileTypeOf(bytes: Buffer, declared: string): string | undefined {
	if (declared === PDF) return isPdf(bytes) ? PDF : undefined;
	// Some servers send each response as a page or as JSON.
	if (/^%PDF-\d/.test(startOf(bytes))) return PDF;
	const base64 = base64In(startOf(bytes));
	if (base64 !== undefined && (isBinaryType(declared) || encodesFile(base64))) return undefined;
	const isText = /^text\/|[/+](html|json|xml)$/.test(declared) && !isRtf(bytes);
	return isText || beginsAsText(bytes) ? undefined : declared;
}

/**
 * Checks for a type whose files are never texts, so that base64 in their place is to be decoded.
 */
export function isBinaryType(type: string): boolean {
	return /^image\/(?!svg)|officedocument|opendocument|^application\/((x-)?(zip|msword)|vnd\.ms-)/.test(
		type,
	);
}

/** First characters of archives (also of Word and Excel), of older Office files, and of images. */
const BINARY_STARTS = [
	'PK',
	'\xd0\xcf',
	'\x89PNG',
	'\xff\xd8',
	'GIF8',
	'RIFF',
	'BM',
	'II*',
	'MM\0',
];

/** Checks that decoded bytes are no text that only looked like base64. */
export function isBinaryFile(bytes: Buffer): boolean {
	const start = bytes.toString('latin1', 0, 4);
	return BINARY_STARTS.some((one) => start.startsWith(one));
}

function encodesFile(base64: string): boolean {
	const bytes = Buffer.from(base64, 'base64');
	return isPdf(bytes) || isBinaryFile(bytes);
}

/** Characters. A shorter text may be an ID, a hash or a token. */
const MIN_BASE64_LENGTH = 200;

/**
 * Returns the base64 in a text, which may be quoted, in lines or a data URL; undefined for a number
 * in hex, a path, or a sentence.
 */
export function base64In(text: string): string | undefined {
	const base64 = text
		.trim()
		.replace(/^"|"$/g, '')
		.replace(/^data:[^,]{0,200};base64,\s*/i, '')
		.replace(/[\r\n][ \t]*/g, '')
		.replace(/={1,2}$/, '');
	const isLong = base64.length >= MIN_BASE64_LENGTH;
	const hasOtherCharacters = /[^\w+/-]/.test(base64);
	const isHex = /^[\da-f]+$/i.test(base64);
	return isLong && !hasOtherCharacters && !isHex && /[A-Z]/.test(base64) ? base64 : undefined;
}

/**
 * Checks for `%PDF-` in the first 1,024 bytes (Adobe's implementation notes to the PDF reference
 * 1.7, H.3).
 */
export function isPdf(bytes: Buffer): boolean {
	const start = bytes.toString('latin1', 0, FILE_START);
	// An error may name the signature, and has no version behind it.
	const hasSignature = /%PDF-\d/.test(start);
	// Bytes that a program has taken for UTF-8 have U+FFFD in place of those that were none.
	const isDamaged = bytes.subarray(0, FILE_START).includes('\ufffd');
	// An error may mention the signature. A server's warning before a PDF begins with other markup.
	const isError = /^[{[]/.test(startOf(bytes)) || beginsAsPage(bytes);
	// A packed PDF may have the signature in it, too.
	return hasSignature && !isDamaged && !isError && packingOf(bytes) === '';
}

/** Checks for the start of a web page. */
export function beginsAsPage(bytes: Buffer): boolean {
	return /^<(!doctype\s+html|html)/i.test(startOf(bytes));
}

/** Checks for a text that is blank, or begins as JSON or markup. */
export function beginsAsText(bytes: Buffer): boolean {
	return /^($|[<[{])/.test(startOf(bytes)) && !isRtf(bytes);
}

function isRtf(bytes: Buffer): boolean {
	return startOf(bytes).startsWith('{\\rtf');
}

/** Returns the first characters that are not blank. */
function startOf(bytes: Buffer): string {
	// With `stream`, half a character at the end is left out, such as half a byte order mark.
	const text = new TextDecoder().decode(bytes.subarray(0, FILE_START), { stream: true });
	return text.trimStart();
}

/** First bytes of zstd (RFC 8878, §3.1.1). */
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** Returns how bytes are packed, by their first ones; '' if they are not. */
export function packingOf(bytes: Buffer): string {
	if (isGzip(bytes)) return 'gzip';
	return bytes.subarray(0, 4).equals(ZSTD) ? 'zstd' : '';
}
