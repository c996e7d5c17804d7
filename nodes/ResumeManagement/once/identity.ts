import { createHash } from 'node:crypto';

import { normalize, normalizeEmail } from '../../shared/text';
import type { HttpRequest } from '../http/send';

/*
 * What tells one claim from another. n8n's database has hashes of it, so a change in this file, or
 * in the functions of shared/text.ts that it calls, counts for all keys that were ever sent: a key
 * whose row has another name then bills again.
 */

/**
 * Returns the name of a row.
 * @param parts identify it, as JSON can express them
 */
export function rowName(...parts: unknown[]): string {
	// Accents may be composed in two ways.
	const text = normalize(JSON.stringify(parts), 'NFC');
	return `resumeManagement:${createHash('sha256').update(text).digest('hex')}`;
}

/** An ID as in RFC 9562, also in a text, in the brackets of .NET, or without its hyphens (Notion). */
const UUID = /(?<![\da-f])[{(]?([\da-f]{8}(-?)(?:[\da-f]{4}\2){3}[\da-f]{12})(?![\da-f])[)}]?/gi;

/**
 * Two keys that look the same are one key: with other forms of characters, or with a hyphen or a
 * quote that Word has replaced. A UUID is the same one in capitals and in brackets, as Microsoft's
 * databases give it (tedious, issue 830), and without its hyphens.
 */
export function comparableKey(key: string): string {
	// Before NFKC, which makes two characters of some quotes, and keeps two forms of the wave dash.
	const withPlainQuotes = key
		.replace(/[\u2018-\u201b\u2032\u02bc\u00b4\u0060]/g, "'")
		.replace(/[\u201c-\u201f\u2033]/g, '"')
		.replace(/[\u301c\uff5e]/g, '~');
	return (
		normalize(withPlainQuotes, 'NFKC')
			.replace(/ +/g, ' ')
			// U+30FC is the long vowel mark, which Japanese keyboards give for a hyphen.
			.replace(/[\p{Pd}\u2043\u2212\u30fc]/gu, '-')
			.replace(UUID, (_, id: string) => id.toLowerCase().replaceAll('-', ''))
	);
}

/**
 * Returns everything that tells a request from others with the same Send Once Key. After a change
 * here, also of the order, an earlier success is not found, and its key is "used before".
 * @param operation path of the operation: a custom request, which its status alone confirms, is no
 *   confirmed upgrade
 */
export function requestIdentity(operation: string, request: HttpRequest): unknown[] {
	const { method, path, query, body, credential } = request;
	const { baseUrl, account } = credential;
	const email = body?.email;
	// Two spellings of an address are one address.
	const compared = typeof email === 'string' ? { ...body, email: normalizeEmail(email) } : body;
	return ['v1', baseUrl, account, operation, method, path, query, compared];
}
