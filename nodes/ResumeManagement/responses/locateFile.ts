import { Failure, type FailureId } from '../../shared/failure';
import { isObject, valueAt } from '../../shared/json';
import { shownNames, valuesNamed } from '../../shared/names';
import { HIDDEN } from '../../shared/secrets';
import type { JsonBody } from '../http/judge';
import { isGzip } from '../http/request';
import { FILES } from './names';

export const PDF = 'application/pdf';

/** A PDF file has this in its first 1,024 bytes (Adobe's implementation notes to the PDF reference 1.7, H.3). */
const PDF_SIGNATURE = '%PDF-';

/** Starts of an error that may mention the signature. A server's warning before a PDF begins with other markup. */
const JSON_OR_PAGE = /^([{[]|<!doctype\s+html|<html)/i;

/** Bytes at the start of a response that show whether it is a file. */
export const FILE_START = 1_024;

/**
 * Tells a file from what may come instead of it, by its first {@link FILE_START} bytes and its declared type. A PDF is what
 * begins as one. Anything else is a file unless it is blank, begins as markup or JSON, or is declared as a text.
 */
export function isFile(bytes: Buffer, mimeType: string): boolean {
	const start = bytes.subarray(0, FILE_START);
	// With `stream`, half a character at the end is left out, such as half a byte order mark.
	const text = new TextDecoder().decode(start, { stream: true }).trimStart();
	if (mimeType === PDF) {
		// A packed PDF may have the signature in it, too.
		return start.includes(PDF_SIGNATURE) && !JSON_OR_PAGE.test(text) && packingOf(start) === '';
	}
	if (text === '' || /^[<{[]/.test(text)) return false;
	return !/^text\/|[/+](html|json|xml)$/.test(mimeType);
}

/** First bytes of zstd (RFC 8878, §3.1.1). */
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** Returns how bytes are packed, by their first ones; '' if they are not. */
export function packingOf(bytes: Buffer): string {
	if (isGzip(bytes)) return 'gzip';
	return bytes.subarray(0, 4).equals(ZSTD) ? 'zstd' : '';
}

/** Place of a file: behind a link, or in the response itself. */
type Located = { link: string } | { bytes: Buffer };

/**
 * Finds the file in a JSON response: at File Path if it is set, else in the one property of the response or its `data`
 * that has a name of {@link FILES} and holds a link or base64.
 * @throws Failure
 */
export function locateFile(body: JsonBody, filePath: string): Located {
	return filePath === '' ? findFile(body) : fileAt(body, filePath);
}

function fileAt(body: JsonBody, filePath: string): Located {
	const value = valueAt(body, filePath);
	const content = typeof value === 'string' ? read(value) : UNKNOWN;
	switch (content.kind) {
		case 'link':
		case 'base64':
			return content;
		case 'text':
			if (content.text.includes(HIDDEN)) throw new Failure('file.holdsSecret');
			return { bytes: Buffer.from(content.text) };
		case 'unknown':
			throw noFile('file.notAtPath', body, filePath);
	}
}

function findFile(body: JsonBody): Located {
	const places = isObject(body) ? [body, body.data] : [];
	const values = places.flatMap((place) => valuesNamed(place, FILES));
	const texts = values.filter((value) => typeof value === 'string').map((text) => text.trim());
	const [file, ...others] = [...new Set(texts)]
		.map(read)
		.filter((content) => content.kind === 'link' || content.kind === 'base64')
		// Base64 of JSON or markup is no file here.
		.filter((content) => content.kind === 'link' || isFile(content.bytes, ''));
	if (!file) throw noFile('file.none', body);
	if (others.length > 0) throw noFile('file.several', body);
	return file;
}

/** A string of a JSON response, by what it may be as a file. */
type Content =
	| { kind: 'link'; link: string }
	| { kind: 'base64'; bytes: Buffer }
	| { kind: 'text'; text: string }
	| typeof UNKNOWN;

/** No file, but an ID, another kind of link, or a damaged file. */
const UNKNOWN = { kind: 'unknown' } as const;

function read(value: string): Content {
	const trimmed = value.trim();
	if (/^https?:\/\//i.test(trimmed)) return { kind: 'link', link: trimmed };
	const bytes = fromBase64(trimmed);
	if (bytes) return { kind: 'base64', bytes };
	const hasWords = /\s/.test(trimmed);
	// Binary data that was sent as text has this character.
	const isDamaged = trimmed.includes('\ufffd');
	return hasWords && !isDamaged ? { kind: 'text', text: value } : UNKNOWN;
}

/** Characters. A shorter text may be an ID, a hash or a token. */
const SHORTEST_BASE64 = 200;

/** Decodes base64, even in lines or as a data URL; undefined if the text is not base64. */
export function fromBase64(text: string): Buffer | undefined {
	const base64 = text
		.trim()
		.replace(/^data:[^,]{0,200};base64,/i, '')
		.replace(/[\r\n][ \t]*/g, '')
		.replace(/={1,2}$/, '');
	const hasOtherCharacters = /[^\w+/-]/.test(base64);
	// A single character after groups of four is less than a byte.
	const isWhole = base64.length % 4 !== 1;
	const isBase64 = base64.length >= SHORTEST_BASE64 && isWhole && !hasOtherCharacters;
	return isBase64 ? Buffer.from(base64, 'base64') : undefined;
}

function noFile(id: FailureId, body: JsonBody, path = ''): Failure {
	const { data } = isObject(body) ? body : {};
	const properties = shownNames(body) + (isObject(data) ? `; in data: ${shownNames(data)}` : '');
	const details = `The response has the properties: ${properties}.`;
	return new Failure(id, { path }, { httpStatus: 200, details });
}
