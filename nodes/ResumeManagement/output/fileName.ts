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
	let stem = '';
	for (const { segment } of new Intl.Segmenter().segment(name)) {
		if (Buffer.byteLength(stem + segment + extension) > MAX_BYTES) break;
		stem += segment;
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

/** A parameter with its value, in quotes or without. Each starts at a semicolon, so none is read twice. */
const PARAMETER = /;([^;=]*)=[ \t]*(?:"([^"\\]*(?:\\[^][^"\\]*)*)"|([^;"][^;]*)?)/g;

/**
 * Reads what senders write, valid or not: a name with blanks and no quotes is taken as it is, and an
 * extended name that can't be decoded is none. Of parameters that come twice, the first counts.
 */
export function readDisposition(header: string): Disposition {
	const values: Record<string, string> = {};
	for (const [, name, quoted, plain = ''] of header.matchAll(PARAMETER)) {
		const wanted = /^\s*(filename\*?)\s*$/i.exec(name!)?.[1]!.toLowerCase();
		if (wanted) values[wanted] ??= quoted?.replace(/\\([^])/g, '$1') ?? plain.trim();
	}
	const names = [decodeExtended(values['filename*'] ?? ''), values.filename ?? ''];
	return {
		attachment: header.split(';', 1)[0]!.trim().toLowerCase() === 'attachment',
		names: names.filter((name) => name !== ''),
	};
}

/** The text of an extended value such as `UTF-8'en'R%C3%A9sum%C3%A9.pdf`; '' where it is malformed. */
function decodeExtended(value: string): string {
	const [, charset, encoded] = /^([^']*)'[^']*'([^]*)$/.exec(value) ?? [];
	if (encoded === undefined || /%(?![\da-f]{2})/i.test(encoded)) return '';
	if (/^iso-8859-1$/i.test(charset!)) {
		return encoded.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
	}
	try {
		return /^utf-?8$/i.test(charset!) ? decodeURIComponent(encoded) : '';
	} catch {
		return '';
	}
}
