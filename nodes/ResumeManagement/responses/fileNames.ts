import type { IDataObject } from 'n8n-workflow';

import { decodeHeader, decodeText } from '../../shared/json';

/** Bytes that common file systems allow: NTFS counts characters, ext4 and APFS count bytes. */
const LONGEST_NAME = 255;

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
	// A header may hold 16 KB. The end has the extension.
	const end = base.slice(-4 * LONGEST_NAME);
	const name = end.replace(UNSAFE, '').normalize('NFC').replace(EDGES, '');
	if (Buffer.byteLength(name) <= LONGEST_NAME) return name;
	const extension = /\.\w{1,10}$/.exec(name)?.[0] ?? '';
	const longestStem = LONGEST_NAME - Buffer.byteLength(extension);
	const stem = Buffer.from(name.slice(0, name.length - extension.length)).subarray(0, longestStem);
	// Half a character at the end is left out.
	return new TextDecoder().decode(stem, { stream: true }).replace(EDGES, '') + extension;
}

/** Parameters `filename` and `filename*`. A comma before them is a mistake of many senders. */
const PARAMETER = /(?:^|[;,])\s*(filename\*?)\s*=\s*(?:"((?:[^"\\]|\\[^])*)"|([^;]*))/gi;

/**
 * Reads a Content-Disposition header (RFC 6266). The name is not safe yet. The extended name (RFC 8187) wins over the plain
 * one, whose quotes many senders leave out, also around a name with blanks.
 */
export function dispositionOf(headers: IDataObject): { isAttachment: boolean; fileName: string } {
	const header = decodeHeader(headers['content-disposition']);
	const names = new Map<string, string>();
	// A backslash before another character is one of a path of Windows.
	for (const [, parameter, quoted, bare = ''] of header.matchAll(PARAMETER)) {
		names.set(parameter!.toLowerCase(), quoted?.replace(/\\(["\\])/g, '$1') ?? bare.trim());
	}
	const plain = fromEncodedWords(names.get('filename') ?? '');
	const fileName = fromExtended(names.get('filename*') ?? '', plain);
	return { isAttachment: /^\s*attachment\b/i.test(header), fileName };
}

/**
 * Decodes a value such as `UTF-8''R%C3%A9sum%C3%A9.pdf` (RFC 8187).
 * @param otherwise the plain name, which counts if the value is malformed; if there is none, a stray percent sign stays
 */
function fromExtended(value: string, otherwise: string): string {
	const [, charset, text] = /^(utf-8|iso-8859-1|windows-1252)'[^']*'(.+)$/is.exec(value) ?? [];
	const isMalformed = text === undefined || /%(?![0-9a-f]{2})/i.test(text);
	if (isMalformed && otherwise !== '') return otherwise;
	return (text ?? value).replace(/(%[0-9a-f]{2})+/gi, (escapes) =>
		decodeText(Buffer.from(escapes.replaceAll('%', ''), 'hex'), charset),
	);
}

/** Decodes the words of a mail header, such as `=?UTF-8?B?UsOpc3Vtw6kucGRm?=` (RFC 2047), which some senders use. */
function fromEncodedWords(text: string): string {
	return text
		.replace(/\?=\s+=\?/g, '?==?')
		.replace(
			/=\?([\w-]+)\?([bq])\?([^?]*)\?=/gi,
			(_, charset: string, kind: string, word: string) => {
				if (kind.toLowerCase() === 'b') return decodeText(Buffer.from(word, 'base64'), charset);
				const escaped = word
					.replaceAll('_', ' ')
					.replace(/=([0-9a-f]{2})/gi, (_escape, hex: string) => {
						return String.fromCharCode(parseInt(hex, 16));
					});
				return decodeText(Buffer.from(escaped, 'latin1'), charset);
			},
		);
}

/** Returns the media type of a Content-Type header without its parameters; '' if there is none. */
export function mimeTypeOf(headers: IDataObject): string {
	const [given] = String(headers['content-type'] ?? '').split(';', 1);
	const type = given!.trim().toLowerCase();
	// RFC 6838 allows 127 characters on each side of the slash.
	return /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/.test(type) ? type : '';
}
