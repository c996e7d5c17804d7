import { Failure, type FailureId } from '../../shared/failure';
import { isObject, valueAt } from '../../shared/json';
import { shownNames, valuesNamed } from '../../shared/names';
import { HIDDEN } from '../../shared/secrets';
import type { JsonBody } from '../http/judge';
import { FILES } from './names';

export const PDF = 'application/pdf';

/** A PDF file has this in its first 1,024 bytes (Adobe's implementation notes to the PDF reference 1.7, H.3). */
const PDF_SIGNATURE = '%PDF-';

/** Bytes that tell whether a response is a file. */
export const HEAD = 1_024;

/**
 * Tells a file from what may come in its place, by its first {@link HEAD} bytes and its declared type. A PDF is what begins as
 * one. Anything else is a file unless it is blank, begins as markup or JSON, or is declared as a text.
 */
export function isFile(head: Buffer, mimeType: string): boolean {
	if (mimeType === PDF) return head.includes(PDF_SIGNATURE);
	// Half a character at the end is left out, such as half a byte order mark.
	const start = new TextDecoder().decode(head, { stream: true }).trimStart();
	if (start === '' || /^[<{[]/.test(start)) return false;
	return !/^text\/|[/+](html|json|xml)$/.test(mimeType);
}

/** Place of a file: behind a link, or in the response itself. */
type Located = { link: string } | { bytes: Buffer };

/** Characters. A shorter text may be an ID, a hash or a token. */
const SHORTEST_BASE64 = 200;

/**
 * Finds the file in a JSON response: at File Path if it is set, else in the one property of the response or its `data`
 * that has a name of {@link FILES} and holds a link or base64.
 * @throws Failure
 */
export function locateFile(body: JsonBody, path: string): Located {
	if (path) {
		const value = valueAt(body, path);
		const located = typeof value === 'string' && (linkOrBytes(value) ?? plainText(value));
		if (located) return located;
		throw noFile('file.notAtPath', body, path);
	}
	const places = isObject(body) ? [body, body.data] : [];
	const values = places.flatMap((place) => valuesNamed(place, FILES));
	const texts = values.filter((value) => typeof value === 'string').map((text) => text.trim());
	const [located, ...others] = [...new Set(texts)]
		.map(linkOrBytes)
		.filter((one) => one !== undefined)
		// Base64 of JSON or markup is no file here.
		.filter((one) => 'link' in one || isFile(one.bytes.subarray(0, HEAD), ''));
	if (!located) throw noFile('file.none', body);
	if (others.length > 0) throw noFile('file.several', body);
	return located;
}

function linkOrBytes(text: string): Located | undefined {
	const trimmed = text.trim();
	if (/^https?:\/\//i.test(trimmed)) return { link: trimmed };
	const bytes = fromBase64(trimmed);
	return bytes && { bytes };
}

/** Decodes base64, also in lines, or as a data URL; undefined if the text is not base64. */
export function fromBase64(text: string): Buffer | undefined {
	const base64 = text
		.trim()
		.replace(/^data:[^,]{0,200};base64,/i, '')
		.replace(/[\r\n][ \t]*/g, '')
		.replace(/={1,2}$/, '');
	const isWhole = base64.length >= SHORTEST_BASE64 && base64.length % 4 !== 1;
	return isWhole && !/[^\w+/-]/.test(base64) ? Buffer.from(base64, 'base64') : undefined;
}

/** Text without any blank is no file, but an ID or another kind of link. */
function plainText(text: string): Located | undefined {
	if (text.includes(HIDDEN)) throw new Failure('file.holdsSecret');
	// Binary data that was sent as text is damaged.
	const isPlain = /\s/.test(text.trim()) && !text.includes('\ufffd');
	return isPlain ? { bytes: Buffer.from(text) } : undefined;
}

function noFile(id: FailureId, body: JsonBody, path = ''): Failure {
	const { data } = isObject(body) ? body : {};
	const properties = shownNames(body) + (isObject(data) ? `; in data: ${shownNames(data)}` : '');
	const details = `The response has the properties: ${properties}.`;
	return new Failure(id, { path }, { httpStatus: 200, details });
}
