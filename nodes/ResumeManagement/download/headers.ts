/** RFC 6838 allows 127 characters on each side of the slash. */
const MAX_TYPE_LENGTH = 255;

/** The media type of a Content-Type header, without its parameters; '' where it has none. */
export function readMimeType(contentType: unknown): string {
	const text = String(contentType ?? '');
	const end = text.indexOf(';');
	const type = (end < 0 ? text : text.slice(0, end)).trim().toLowerCase();
	if (type.length > MAX_TYPE_LENGTH) return '';
	return /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(type) ? type : '';
}

/** What a Content-Disposition header says (RFC 6266). */
export interface Disposition {
	/** Whether it is to be saved, rather than shown. */
	attachment: boolean;
	/**
	 * Names for the file, the best first: the extended one (RFC 8187) before the plain one. They are
	 * as the sender wrote them, so none of them is safe.
	 */
	names: string[];
}

/**
 * Reads what senders write, valid or not: a name with blanks and no quotes is taken as it is, and an
 * extended name that can't be decoded is none. Of parameters that come twice, the first counts.
 */
export function readDisposition(contentDisposition: unknown): Disposition {
	const header = String(contentDisposition ?? '');
	const [type] = header.split(';', 1);
	const parameters = new Map<string, string>();
	for (const [name, value] of parametersOf(header)) {
		if (!parameters.has(name)) parameters.set(name, value);
	}
	const names = [decodeExtended(parameters.get('filename*')), parameters.get('filename')];
	return {
		attachment: type!.trim().toLowerCase() === 'attachment',
		names: names.filter((name): name is string => !!name),
	};
}

/** Goes over the header once, whatever stands in it. */
function* parametersOf(header: string): Generator<[name: string, value: string]> {
	const until = (from: number, stop: number, other = stop) => {
		let at = from;
		while (at < header.length) {
			const code = header.charCodeAt(at);
			if (code === stop || code === other) break;
			at++;
		}
		return at;
	};
	let at = until(0, SEMICOLON);
	while (at < header.length) {
		const start = at + 1;
		at = until(start, SEMICOLON, EQUALS);
		if (header[at] !== '=') continue;
		const name = header.slice(start, at).trim().toLowerCase();
		at++;
		while (header[at] === ' ' || header[at] === '\t') at++;
		if (header[at] !== '"') {
			const end = until(at, SEMICOLON);
			yield [name, header.slice(at, end).trim()];
			at = end;
			continue;
		}
		let value = '';
		for (let from = ++at; ; from = at++) {
			at = until(at, QUOTE, BACKSLASH);
			value += header.slice(from, at);
			if (at >= header.length) return;
			if (header[at++] === '"') break;
		}
		yield [name, value];
		at = until(at, SEMICOLON);
	}
}

const [SEMICOLON, EQUALS, QUOTE, BACKSLASH] = [0x3b, 0x3d, 0x22, 0x5c];

/** The text of an extended value such as `UTF-8'en'R%C3%A9sum%C3%A9.pdf`; '' where it is malformed. */
function decodeExtended(value = ''): string {
	const charsetEnd = value.indexOf("'");
	const languageEnd = value.indexOf("'", charsetEnd + 1);
	if (languageEnd <= charsetEnd) return '';
	const encoded = value.slice(languageEnd + 1);
	switch (value.slice(0, charsetEnd).toLowerCase()) {
		case 'utf-8':
		case 'utf8':
			try {
				return decodeURIComponent(encoded);
			} catch {
				return '';
			}
		case 'iso-8859-1':
			if (/%(?![\da-f]{2})/i.test(encoded)) return '';
			return encoded.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
		default:
			return '';
	}
}
