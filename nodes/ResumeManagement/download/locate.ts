import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../answer/json';

/** Where the file is, when it is not the answer itself: behind a link, or within the answer. */
export type Located = { link: string } | { base64: string; name: string; mimeType: string };

/**
 * Words of the names that a file is taken from. The specification shows no names (§4.2), and an answer
 * may hold links and texts about anything, so a name with any other word in it is left alone.
 */
interface Vocabulary {
	/** Tell of the file wherever they stand, also as the name of the object around it. */
	subjects: string[];
	/** Tell of it in the answer itself and in its `data`, as these are about the download. */
	nouns: string[];
	/** These, and words that tell nothing of their own; the longest first, as `files` begins as `file`. */
	known: string[];
}

function vocabulary(subjects: string[], nouns: string[], others: string[]): Vocabulary {
	const known = [...subjects, ...nouns, ...others].sort((a, b) => b.length - a.length);
	return { subjects, nouns, known };
}

const FILE = ['file', 'files', 'download', 'downloads'];
const DOCUMENT = ['resume', 'cv', 'document', 'pdf', 'doc', 'docx', 'attachment'];
const QUALITY = ['signed', 'presigned', 'direct', 'public', 'temporary', 'original', 'encoded'];

const LINKS = vocabulary(
	FILE,
	['url', 'urls', 'uri', 'link', 'links', 'href', 'location'],
	// A resume's own link may be a page that its owner wrote.
	[...DOCUMENT, ...QUALITY],
);
const CONTENTS = vocabulary(
	[...FILE, ...DOCUMENT],
	['content', 'contents', 'data', 'base64', 'b64', 'body', 'bytes', 'binary', 'blob'],
	QUALITY,
);
const LONGEST_NAME = 64;

/** Longer than web servers take. */
const LONGEST_LINK = 8_192;
/** Long enough that no ID or token is taken for a file. */
const SHORTEST_BASE64 = 128;

/** A text of the answer, with the names around it. An element of an array has the array's name. */
interface Text {
	value: string;
	key: string;
	parent: IDataObject;
	parentKey: string;
	/** Whether it stands in the answer itself or in its `data`. */
	onTop: boolean;
}

/**
 * Finds the file in a JSON answer: the one base64 text under a name that tells of the file, else the
 * one http(s) link under such a name. Names of more than one that differ are no answer.
 */
export function locateFile(answer: IDataObject | IDataObject[]): Located | undefined {
	const texts = textsIn(answer);
	const [content, ...otherContents] = telling(texts.filter(isBase64), CONTENTS);
	if (content) {
		if (otherContents.length > 0) return undefined;
		const { value, parent } = content;
		return {
			base64: value,
			name: textBeside(parent, ['filename']),
			mimeType: textBeside(parent, ['mimetype', 'contenttype']),
		};
	}
	const [link, ...otherLinks] = telling(texts.filter(isLink), LINKS);
	return link && otherLinks.length === 0 ? { link: link.value } : undefined;
}

/** The texts whose names tell the most, each value once. */
function telling(texts: Text[], vocabulary: Vocabulary): Text[] {
	const { subjects, nouns } = vocabulary;
	const named: Text[] = [];
	const bare: Text[] = [];
	for (const text of texts) {
		const words = wordsOf(text.key, vocabulary);
		const around = wordsOf(text.parentKey, vocabulary);
		if (words.length === 0) continue;
		if ([...words, ...around].some((word) => subjects.includes(word))) named.push(text);
		else if (text.onTop && words.some((word) => nouns.includes(word))) bare.push(text);
	}
	const best = named.length > 0 ? named : bare;
	return [...new Map(best.map((text) => [text.value, text])).values()];
}

/** The words of a name such as `fileUrl`, `file_url` or `fileurl`; none where it has another one too. */
function wordsOf(name: string, { known }: Vocabulary): string[] {
	if (name.length > LONGEST_NAME) return [];
	const words: string[] = [];
	let rest = squashed(name);
	while (rest) {
		const word = known.find((candidate) => rest.startsWith(candidate));
		if (!word) return [];
		words.push(word);
		rest = rest.slice(word.length);
	}
	return words;
}

function squashed(name: string): string {
	return name.toLowerCase().replace(/[\s_.-]/g, '');
}

function isLink({ value }: Text): boolean {
	return value.length <= LONGEST_LINK && /^https?:\/\//i.test(value) && !/\s/.test(value);
}

/** Whether it is base64, which may be broken into lines. A hash in hex is none. */
function isBase64({ value }: Text): boolean {
	if (value.length < SHORTEST_BASE64) return false;
	const end = value.search(/[^A-Za-z0-9+/\r\n]/);
	const padding = end < 0 ? '' : value.slice(end);
	if (!['', '=', '=='].includes(padding.replace(/[\r\n]/g, ''))) return false;
	const { length } = value.replace(/[\r\n]/g, '');
	return (padding ? length % 4 === 0 : length % 4 !== 1) && /[^\da-f\r\n]/i.test(value);
}

function textBeside(parent: IDataObject, names: string[]): string {
	const key = Object.keys(parent).find((name) => names.includes(squashed(name)));
	const value = key === undefined ? undefined : parent[key];
	return typeof value === 'string' ? value : '';
}

/** All texts, from however deep: no recursion, as the depth is the sender's. */
function textsIn(answer: IDataObject | IDataObject[]): Text[] {
	interface Pending extends Omit<Text, 'value'> {
		value: unknown;
		/** Where the objects in here stand: 0 is the answer itself. */
		depth: number;
	}
	const texts: Text[] = [];
	const root = { key: '', parent: {}, parentKey: '', onTop: true, depth: 0 };
	const pending: Pending[] = [{ value: answer, ...root }];
	for (let next = pending.pop(); next; next = pending.pop()) {
		const { value, key, depth } = next;
		if (typeof value === 'string') texts.push({ ...next, value });
		else if (Array.isArray(value)) {
			for (const element of value) pending.push({ ...next, value: element });
		} else if (isObject(value)) {
			const onTop = depth === 0 || (depth === 1 && key === 'data');
			for (const [name, inner] of Object.entries(value)) {
				const place = { key: name, parent: value, parentKey: key, onTop, depth: depth + 1 };
				pending.push({ value: inner, ...place });
			}
		}
	}
	return texts;
}
