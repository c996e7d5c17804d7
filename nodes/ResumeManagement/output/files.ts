import type { IDataObject } from 'n8n-workflow';

import { Failure, type FailureId } from '../../shared/failure';
import { decodeText, isObject, valueAt } from '../../shared/json';
import { FILES, shownNames, valuesNamed } from '../../shared/names';
import { decoded } from '../../shared/path';
import { HIDDEN } from '../../shared/secrets';
import type { JsonBody } from '../http/judge';

/** Bytes that common file systems allow: NTFS counts characters, ext4 and APFS count bytes. */
export const LONGEST_NAME = 255;

/** Characters. Normalizing and trimming 16 KB, which a header may have, can take a second. */
const LONGEST_INPUT = 2_048;

/**
 * Characters that Windows refuses or that are invisible: control characters, halves of surrogate pairs, line
 * separators, and format characters, which turn the writing direction, except the joiners.
 */
const UNSAFE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}<>:"|?*]|[^\P{Cf}\u200c\u200d]/gu;

/** Characters at the ends that Windows drops, that hide a file, or that are invisible there. */
const EDGES = /^[.\s\u200c\u200d]+|[.\s\u200c\u200d]+$/g;

/** Returns a name that is no path and fits common file systems, with its extension; '' if nothing is left. */
export function safeFileName(given: string): string {
	const base = given.slice(Math.max(given.lastIndexOf('/'), given.lastIndexOf('\\')) + 1);
	const name = withoutEdges(base.slice(-LONGEST_INPUT).replace(UNSAFE, '').normalize('NFC'));
	if (Buffer.byteLength(name) <= LONGEST_NAME) return name;
	const extension = /\.\w{1,10}$/.exec(name)?.[0] ?? '';
	const most = LONGEST_NAME - Buffer.byteLength(extension);
	const bytes = Buffer.from(name.slice(0, name.length - extension.length)).subarray(0, most);
	// Half a character at the end is left out.
	const stem = new TextDecoder().decode(bytes, { stream: true });
	return withoutEdges(stem) + extension;
}

function withoutEdges(name: string): string {
	return name.replace(EDGES, '');
}

const PLAIN = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\[^]){0,4096})"|([^;"]*))/i;
const EXTENDED = /;\s*filename\*\s*=\s*"?utf-?8'[^']{0,40}'([^;"]*)/i;

/**
 * Reads a Content-Disposition header (RFC 6266). The name is not safe yet. The extended name (RFC 8187) wins over the plain
 * one, whose quotes many senders leave out, also around a name with blanks.
 */
export function dispositionOf(headers: IDataObject): { isAttachment: boolean; fileName: string } {
	const given = Buffer.from(String(headers['content-disposition'] ?? ''), 'latin1');
	// Many senders write names in plain UTF-8, which Node.js reads as Latin-1.
	const header = decodeText(given) ?? given.toString('latin1');
	const [, quoted, bare = ''] = PLAIN.exec(header) ?? [];
	const plain = quoted?.replace(/\\([^])/g, '$1') ?? bare.trim();
	const extended = decoded(EXTENDED.exec(header)?.[1]?.trim() ?? '');
	return { isAttachment: /^\s*attachment\s*(;|$)/i.test(header), fileName: extended || plain };
}

/** Returns the media type of a Content-Type header without its parameters; '' if there is none. */
export function mimeTypeOf(headers: IDataObject): string {
	const [given] = String(headers['content-type'] ?? '').split(';', 1);
	const type = given!.trim().toLowerCase();
	// RFC 6838 allows 127 characters on each side of the slash.
	return /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/.test(type) ? type : '';
}

/** Checks whether a response is markup, JSON, plain text or blank. @param start its first characters without blanks */
export function isText(start: string, mimeType = ''): boolean {
	return /^([<{[]|$)/.test(start) || /^text\/|[/+](html|json|xml)$/.test(mimeType);
}

/** Place of a file: behind a link, or in the response itself. */
type Located = { link: string } | { bytes: Buffer };

/** Characters. A shorter text may be an ID, a hash or a token. */
export const SHORTEST_BASE64 = 200;

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
		.filter((one) => 'link' in one || !isText(one.bytes.toString('utf8', 0, 100).trimStart()));
	if (!located) throw noFile('file.none', body);
	if (others.length > 0) throw noFile('file.several', body);
	return located;
}

function linkOrBytes(text: string): Located | undefined {
	const trimmed = text.trim();
	if (/^https?:\/\//i.test(trimmed)) return { link: trimmed };
	const base64 = trimmed
		.replace(/^data:[^,]{0,200};base64,/i, '')
		.replace(/[\r\n][ \t]*/g, '')
		.replace(/={1,2}$/, '');
	const isWhole = base64.length >= SHORTEST_BASE64 && base64.length % 4 !== 1;
	return isWhole && !/[^\w+/-]/.test(base64) ? { bytes: Buffer.from(base64, 'base64') } : undefined;
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
