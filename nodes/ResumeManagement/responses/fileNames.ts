import type { IDataObject } from 'n8n-workflow';

import { decodeHeader, decodeText } from '../../shared/json';
import { decodePercent } from '../../shared/text';

/** Bytes that common file systems allow: NTFS counts characters, ext4 and APFS count bytes. */
const MAX_NAME_BYTES = 255;

/**
 * Characters of a name that are read, at its end: the rest would be cut anyway. A header may have
 * 16,000 of them.
 */
const MAX_READ_LENGTH = 1_000;

const REFUSED_BY_WINDOWS = /[<>:"|?*]/g;

/**
 * Control and format characters, which may turn the writing direction, halves of surrogate pairs,
 * and line separators. The joiners U+200C and U+200D stay: emoji and some scripts need them.
 */
const INVISIBLE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Characters at the ends that Windows drops, that hide a file, or that are invisible there. */
const EDGES = /^[.\s\u200c\u200d]+|[.\s\u200c\u200d]+$/g;

/**
 * Returns a name that is no path and fits common file systems, with its extension; '' if nothing is
 * left.
 */
export function safeFileName(given: string): string {
	const base = given.split(/[/\\]/).at(-1)!.slice(-MAX_READ_LENGTH);
	const allowed = base.replace(REFUSED_BY_WINDOWS, '').replace(INVISIBLE, '');
	// What a sender's template leaves without a title, such as `.pdf`, is no name.
	if (/^\s*\.+(pdf|docx?|odt|rtf|txt)$/i.test(allowed)) return '';
	const name = allowed.normalize('NFC').replace(EDGES, '');
	if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
	const [extension = ''] = /\.\w{1,10}$/.exec(name) ?? [];
	const stem = name.slice(0, name.length - extension.length);
	const longestStem = MAX_NAME_BYTES - Buffer.byteLength(extension);
	return firstBytes(stem, longestStem).replace(EDGES, '') + extension;
}

/** Returns as much of a text as fits into so many bytes. */
function firstBytes(text: string, length: number): string {
	const bytes = Buffer.from(text).subarray(0, length);
	// With `stream`, half a character at the end is left out.
	return new TextDecoder().decode(bytes, { stream: true });
}

/**
 * Reads a Content-Disposition header (RFC 6266). The name is not safe yet. The extended name (RFC
 * 8187) wins over the plain one, unless it is malformed.
 */
export function dispositionOf(headers: IDataObject): { isAttachment: boolean; fileName: string } {
	const header = decodeHeader(headers['content-disposition']);
	const isAttachment = /^\s*attachment\b/i.test(header);
	const plain = parameterAfter(/(?:^|[;,])\s*filename\s*=\s*/i, header);
	const extended = parameterAfter(/(?:^|[;,])\s*filename\*\s*=\s*/i, header);
	// Some senders write an extended name under the plain parameter.
	const isExtended = /^utf-8''/i.test(plain);
	const plainName = isExtended ? decodeExtended(plain).name : decodePlain(plain);
	const { name, isMalformed } = decodeExtended(extended);
	return { isAttachment, fileName: isMalformed && plain !== '' ? plainName : name };
}

/**
 * Reads the value of a parameter; '' if there is none. Many senders write no disposition type, a
 * comma before the parameter, or no quotes around a name with blanks.
 * @param start the parameter's name, and what is before and after it
 */
function parameterAfter(start: RegExp, header: string): string {
	const found = start.exec(header);
	if (!found) return '';
	const rest = header.slice(found.index + found[0].length);
	// Some senders write two pairs of quotes, or single ones.
	const [, quoted] = /^"((?:[^"\\]|\\[^])+)"/.exec(rest) ?? [];
	if (quoted === undefined) {
		const [value] = rest.split(/;|,\s*filename/i, 1);
		return value!.trim().replace(/^'(.+)'$/, '$1');
	}
	// A backslash before any other character belongs to a Windows path.
	return quoted.replace(/\\(["\\])/g, '$1');
}

/**
 * Decodes a value such as `UTF-8''R%C3%A9sum%C3%A9.pdf` (RFC 8187). UTF-16 is not allowed there,
 * and never meant.
 */
function decodeExtended(value: string): { name: string; isMalformed: boolean } {
	const [, charset, encoded = value] = /^((?!utf-?16)[\w-]*)'[^']*'(.+)$/i.exec(value) ?? [];
	const hasStrayPercent = /%(?![0-9a-f]{2})/i.test(encoded);
	const name = encoded.replace(/(%[0-9a-f]{2})+/gi, (escapes) =>
		decodeText(Buffer.from(escapes.replaceAll('%', ''), 'hex'), charset),
	);
	return { name, isMalformed: charset === undefined || hasStrayPercent };
}

/**
 * Decodes a name that has percent escapes of letters, or words of a mail header, as some senders
 * write them.
 */
function decodePlain(name: string): string {
	const decoded = decodePercent(name);
	const hasLetters = decoded !== undefined && /[^\0-\x7f]/.test(decoded);
	return decodeWords(hasLetters ? decoded : name);
}

/**
 * A word of a mail header, such as `=?UTF-8?B?UsOpc3Vtw6kucGRm?=` (RFC 2047): its character set,
 * its encoding, its text.
 */
const ENCODED_WORD = /=\?([\w-]+)\?([bq])\?([^?]*)\?=/gi;

/** Words that follow each other. Some senders cut a letter between two of them. */
const ENCODED_WORDS = /(=\?[\w-]+\?[bq]\?[^?]*\?=\s*)+/gi;

function decodeWords(text: string): string {
	return text.replace(ENCODED_WORDS, (words) => {
		const found = [...words.matchAll(ENCODED_WORD)];
		const [[, charset] = []] = found;
		const bytes = found.map(([, , encoding, word = '']) => {
			return encoding!.toLowerCase() === 'b' ? Buffer.from(word, 'base64') : quotedBytes(word);
		});
		const end = /\s*$/.exec(words)![0];
		return decodeText(Buffer.concat(bytes), charset) + end;
	});
}

/** Returns the bytes of a word in the encoding Q, in which `_` is a space and `=E9` a byte. */
function quotedBytes(word: string): Buffer {
	const characters = word
		.replaceAll('_', ' ')
		.replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
	return Buffer.from(characters, 'latin1');
}

/** Returns the media type of a Content-Type header without its parameters; '' if there is none. */
export function mimeTypeOf(headers: IDataObject): string {
	const [given] = String(headers['content-type'] ?? '').split(/[;,]/, 1);
	const type = given!.trim().toLowerCase();
	// RFC 6838 allows 127 characters on each side of the slash.
	return /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/.test(type) ? type : '';
}
