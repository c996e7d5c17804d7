import { Failure, type FailureId } from '../../shared/failure';
import { isObject, shownNames, valueAt, valuesNamed } from '../../shared/json';
import { HIDDEN } from '../../shared/secrets';
import type { JsonBody } from '../http/judge';
import { base64In, beginsAsText } from './fileTypes';
import { FILES } from './names';

/** A file in a JSON response: behind a link, or in the response itself. */
type Located = { link: string } | { bytes: Buffer };

/**
 * Finds the file in a JSON response: at File Path if it is set, else in the one property of the
 * response or its `data` that has a name of {@link FILES} and holds a link or base64.
 * @throws Failure
 */
export function locateFile(body: JsonBody, filePath: string): Located {
	return filePath === '' ? findFile(body) : fileAt(body, filePath);
}

function fileAt(body: JsonBody, filePath: string): Located {
	const value = valueAt(body, filePath);
	const file = typeof value === 'string' ? (fileIn(value) ?? fileOfWords(value)) : undefined;
	if (file) return file;
	const text = typeof value === 'string' ? value.trim() : '';
	const isRelativeLink = text.includes('/') && !/^data:|[\s\ufffd<]/i.test(text);
	throw isRelativeLink ? new Failure('file.badLink') : noFile('file.notAtPath', body, filePath);
}

function findFile(body: JsonBody): Located {
	const places = isObject(body) ? [body, body.data] : [];
	const values = places.flatMap((place) => valuesNamed(place, FILES));
	const texts = values.filter((value) => typeof value === 'string').map((text) => text.trim());
	const [file, ...others] = [...new Set(texts)]
		.map(fileIn)
		.filter((found) => found !== undefined)
		// Base64 of JSON or markup is no file here.
		.filter((found) => 'link' in found || !beginsAsText(found.bytes));
	if (!file) throw noFile('file.none', body);
	if (others.length > 0) throw noFile('file.several', body);
	return file;
}

/** Returns the file that a string leads to, or is in base64; undefined for any other string. */
function fileIn(value: string): Located | undefined {
	const text = value.trim();
	if (/^https?:\/\//i.test(text)) return { link: text };
	const bytes = fromBase64(text);
	return bytes && { bytes };
}

/**
 * Returns a text of several words as a file; undefined for an ID, another kind of link, or binary
 * data that was sent as text.
 */
function fileOfWords(text: string): Located | undefined {
	const hasWords = /\s/.test(text.trim());
	const isDamaged = text.includes('\ufffd');
	if (!hasWords || isDamaged) return undefined;
	if (text.includes(HIDDEN)) throw new Failure('file.holdsSecret');
	return { bytes: Buffer.from(text) };
}

/** Decodes base64, even in lines or as a data URL; undefined if the text is not base64. */
export function fromBase64(text: string): Buffer | undefined {
	const base64 = base64In(text);
	// A single character after groups of four is less than a byte.
	const isWhole = base64 !== undefined && base64.length % 4 !== 1;
	return isWhole ? Buffer.from(base64, 'base64') : undefined;
}

function noFile(id: FailureId, body: JsonBody, path = ''): Failure {
	const { data } = isObject(body) ? body : {};
	const properties = shownNames(body) + (isObject(data) ? `; in data: ${shownNames(data)}` : '');
	const details = `The response has the properties: ${properties}.`;
	return new Failure(id, { path }, { httpStatus: 200, details });
}
