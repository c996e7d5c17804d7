import type { IDataObject } from 'n8n-workflow';

import { decodeText } from '../../shared/json';
import { decoded } from '../../shared/path';

/** Bytes that common file systems take: NTFS counts characters, ext4 and APFS count bytes. */
const MAX_BYTES = 255;

/** Characters that are looked at: normalizing a long name takes time. */
const LONGEST = 2_048;

/**
 * Characters that Windows refuses or that are invisible: control characters, halves of surrogate pairs, line
 * separators, and marks that turn the writing direction. Joiners stay, because scripts and emoji need them.
 */
const UNSAFE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}<>:"|?*]|[^\P{Cf}\u200c\u200d]/gu;

/** Characters at the ends that Windows drops, that hide a file, or that are invisible there. */
const EDGES = /^[.\s\u200c\u200d]+|[.\s\u200c\u200d]+$/g;

/**
 * Returns a name that is no path and that common file systems take; '' if nothing is left of it. It keeps its
 * extension when it is cut.
 */
export function safeFileName(given: string): string {
	const base = given.slice(Math.max(given.lastIndexOf('/'), given.lastIndexOf('\\')) + 1);
	const name = trimmed(base.slice(-LONGEST).replace(UNSAFE, '').normalize('NFC'));
	if (Buffer.byteLength(name) <= MAX_BYTES) return name;
	const extension = /\.\w{1,10}$/.exec(name)?.[0] ?? '';
	const most = MAX_BYTES - Buffer.byteLength(extension);
	let stem = '';
	for (const character of name.slice(0, -extension.length || undefined)) {
		if (Buffer.byteLength(stem + character) > most) break;
		stem += character;
	}
	return stem && trimmed(stem) + extension;
}

function trimmed(name: string): string {
	return name.replace(EDGES, '');
}

const PLAIN = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\[^]){0,4096})"|([^;"]*))/i;
const EXTENDED = /;\s*filename\*\s*=\s*"?utf-?8'[^']{0,40}'([^;"]*)/i;

/**
 * Reads a Content-Disposition header (RFC 6266). The name is as the sender wrote it, so not safe: the extended
 * one (RFC 8187) before the plain one. Many senders leave out the quotes around a name with blanks.
 */
export function readDisposition(headers: IDataObject): { isAttachment: boolean; fileName: string } {
	const given = Buffer.from(String(headers['content-disposition'] ?? ''), 'latin1');
	// Many senders write names in plain UTF-8, which Node.js reads as Latin-1.
	const header = decodeText(given) ?? given.toString('latin1');
	const [, quoted, bare = ''] = PLAIN.exec(header) ?? [];
	const plain = quoted?.replace(/\\([^])/g, '$1') ?? bare.trim();
	const extended = decoded(EXTENDED.exec(header)?.[1]?.trim() ?? '');
	return { isAttachment: /^\s*attachment\s*(;|$)/i.test(header), fileName: extended || plain };
}
