/** What common file systems take: NTFS counts characters, ext4 and APFS count bytes. */
const MAX_BYTES = 255;

/** Characters that can't count, as a name is cut to {@link MAX_BYTES} in the end. */
const LONG = 2_048;

/**
 * Not taken by Windows, or not seen: control characters, halves of surrogate pairs, line separators,
 * and marks such as those that turn the writing direction, but for the joiners of scripts and emoji.
 */
const UNSAFE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}<>:"|?*]|[^\P{Cf}\u200c\u200d]/gu;

/** What no name starts or ends with: Windows drops it, or hides the file, or it can't be seen. */
const EDGE = /[.\s\u200c\u200d]/;

/** Names of devices, with any extension (Microsoft's "Naming Files, Paths, and Namespaces"). */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/**
 * A name that is no path and that each file system takes; '' when nothing is left of it. It has at
 * most 255 bytes in UTF-8, keeps its extension, and ends in no half character.
 */
export function safeFileName(name: string): string {
	const base = name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1);
	// The unsafe character keeps the ends from joining into another one.
	const bounded = base.length > LONG ? `${base.slice(0, LONG / 2)}\0${base.slice(-64)}` : base;
	const clean = trimmed(bounded.replace(UNSAFE, '').normalize('NFC'));
	const short = cut(clean);
	return RESERVED.test(short) ? cut(`_${short}`) : short;
}

function cut(name: string): string {
	if (Buffer.byteLength(name) <= MAX_BYTES) return name;
	const extension = /\.\w{1,10}$/.exec(name)?.[0] ?? '';
	const room = MAX_BYTES - extension.length;
	let stem = '';
	for (const { segment } of new Intl.Segmenter().segment(name)) {
		if (Buffer.byteLength(stem + segment) > room) break;
		stem += segment;
	}
	return stem && trimmed(stem) + extension;
}

function trimmed(text: string): string {
	let start = 0;
	let end = text.length;
	while (start < end && EDGE.test(text[start]!)) start++;
	while (end > start && EDGE.test(text[end - 1]!)) end--;
	return text.slice(start, end);
}
