import type { IDataObject } from 'n8n-workflow';

import type { AnswerBody } from '../operation';

/** Where the file is, when it is not the answer itself: behind a link, or within the answer. */
export type Located = { link: string } | { base64: string; name: string; mimeType: string };

const LINK = /^https?:\/\/\S+$/i;
/** `fileUrl`, `resume_file` and `download`, but not `profile`. */
const TELLING_NAME = /[dD]ownload|^file|[_-]file|File/;
/** Long enough that no ID or token is taken for a file. */
const BASE64 = /^(?=.{128})[A-Za-z0-9+/\s]+={0,2}\s*$/s;

interface Text {
	key: string;
	value: string;
	parent: IDataObject;
}

/**
 * Finds the file in a JSON answer, whose properties the specification does not show (§4.2): the one
 * link that it holds, else the one long base64 text. Among several links, one whose name speaks of
 * a download or a file counts.
 */
export function locateFile(answer: AnswerBody): Located | undefined {
	const texts = [...textsIn(answer)];
	const links = texts.filter(({ value }) => LINK.test(value));
	const telling = links.filter(({ key }) => TELLING_NAME.test(key));
	const [link, ...otherLinks] = telling.length === 1 ? telling : links;
	if (link && otherLinks.length === 0) return { link: link.value };
	const [encoded, ...others] = texts.filter(({ value }) => BASE64.test(value));
	if (!encoded || others.length > 0) return undefined;
	const beside = (pattern: RegExp) => {
		const key = Object.keys(encoded.parent).find((name) => pattern.test(name));
		return key === undefined ? '' : String(encoded.parent[key]);
	};
	return {
		base64: encoded.value,
		name: beside(/^file_?name$/i),
		mimeType: beside(/^(mime|content)_?type$/i),
	};
}

function* textsIn(value: unknown, key = '', parent: IDataObject = {}): Generator<Text> {
	if (typeof value === 'string') yield { key, value, parent };
	else if (typeof value === 'object' && value !== null) {
		for (const [name, inner] of Object.entries(value)) {
			yield* textsIn(inner, name, value as IDataObject);
		}
	}
}
