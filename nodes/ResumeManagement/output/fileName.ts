import { decoded } from '../../shared/path';

/** What common file systems take: NTFS counts characters, ext4 and APFS count bytes. */
const MAX_BYTES = 255;

/** Characters that are looked at, so that no name takes long. */
const LONGEST = 2_048;

/**
 * Not taken by Windows, or not seen: control characters, halves of surrogate pairs, line separators,
 * and marks such as those that turn the writing direction, but for the joiners of scripts and emoji.
 */
const UNSAFE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}<>:"|?*]|[^\P{Cf}\u200c\u200d]/gu;

/** What no name starts or ends with: Windows drops it, or hides the file, or it can't be seen. */
const EDGES = /^[.\s\u200c\u200d]+|[.\s\u200c\u200d]+$/g;

/**
 * A name that is no path and that each file system takes; '' when nothing is left of it. It has at
 * most 255 bytes in UTF-8, keeps its extension, and ends in no half character.
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

/** What a Content-Disposition header says (RFC 6266). */
export interface Disposition {
	/** Whether it is to be saved, rather than shown. */
	attachment: boolean;
	/** The file's, as the sender wrote them, so not safe: the extended one (RFC 8187) before the plain one. */
	names: string[];
}

const PLAIN = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\[^]){0,4096})"|([^;"]*))/i;
const EXTENDED = /;\s*filename\*\s*=\s*"?utf-?8'[^']{0,40}'([^;"]*)/i;

/** Reads what senders write: a name with blanks and no quotes is taken as it is, and one in an unknown form is none. */
export function readDisposition(header: string): Disposition {
	const [, quoted, bare = ''] = PLAIN.exec(header) ?? [];
	const plain = quoted?.replace(/\\([^])/g, '$1') ?? bare.trim();
	const extended = decoded(EXTENDED.exec(header)?.[1]?.trim() ?? '') ?? '';
	return {
		attachment: /^\s*attachment\s*(;|$)/i.test(header),
		names: [extended, plain].filter((name) => name !== ''),
	};
}
