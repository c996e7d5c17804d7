import type { IBinaryKeyData, IDataObject, IN8nHttpFullResponse } from 'n8n-workflow';

import { isObject, valueAt } from '../../shared/json';
import { hideAndCut, holdsSecret } from '../../shared/secrets';
import { readAnswer } from '../http/answer';
import { Failure } from '../../shared/failure';
import { type AnswerBody, reportsError, TRANSIENT } from '../http/judge';
import { networkFailure } from '../http/networkFailure';
import { decoded } from '../../shared/path';
import { type Connection, discard, type Readable, type Received, UNPACKED } from '../http/send';

/** What the user says of the file; but for the field, each may be ''. */
export interface FileSettings {
	/** The item's binary field. */
	field: string;
	/** In place of the name that the service sends. */
	fileName: string;
	/** Where a JSON answer has the file. */
	filePath: string;
}

/** A file in n8n's binary store, and what an AI agent gets of it: n8n leaves binary data out of a tool's answer. */
export interface StoredFile {
	json: IDataObject;
	binary: IBinaryKeyData;
}

type Host = 'the service' | "the file's host";

/**
 * Stores the file that a download was answered with: the answer's own bytes, what it redirects or links to, or
 * what it holds as base64. The specification does not say which (§4.2).
 * @throws Failure
 */
export async function storeFile(
	received: Received,
	{ field, fileName, filePath }: FileSettings,
	connection: Connection,
): Promise<StoredFile> {
	const { statusCode, headers, url, body } = received;
	let source = received;
	let content: Readable | Buffer | undefined;
	if (statusCode >= 300 && statusCode < 400 && headers.location) {
		discard(body, connection.abort);
		source = await fetchLink(String(headers.location), url, connection);
	} else if (!(await isFile(received))) {
		const located = locate(await readAnswer(received, connection), filePath);
		if (Buffer.isBuffer(located)) content = located;
		else source = await fetchLink(located, undefined, connection);
	}
	content ??= source.body;
	const name = safeName(fileName) || safeName(hideAndCut(nameOf(source), connection.secrets));
	const mimeType = hideAndCut(String(source.headers['content-type'] ?? ''), connection.secrets);
	try {
		// Always with name and type: n8n 1 would otherwise keep the URL (n8n-core's prepareBinaryData).
		const shown = { fileName: name || 'resume', mimeType: mimeType || 'application/octet-stream' };
		const { helpers } = connection;
		const binary = await helpers.prepareBinaryData(content, shown.fileName, shown.mimeType);
		return { json: shown, binary: { [field]: binary } };
	} catch (error) {
		connection.abort.abort();
		throw new Failure('file.notStored', {}, { code: (error as { code?: string }).code });
	}
}

/** Errors and links come as JSON, and a login page as HTML, whatever type they are sent with. */
async function isFile({ statusCode, body }: Received): Promise<boolean> {
	if (statusCode === 206) throw new Failure('file.partial', {}, { httpStatus: statusCode });
	if (statusCode < 200 || statusCode >= 300) return false;
	await new Promise<void>((resolve, reject) => {
		body.once('readable', resolve).once('end', resolve).once('error', reject);
	});
	const head = body.read() as Buffer | null;
	if (head) body.unshift(head);
	return head !== null && !/^\ufeff?\s*[<{[]/.test(head.toString('utf8', 0, 256));
}

/**
 * Fetches a file from where the service points, which is never shown the private key.
 * @param base what a relative link is resolved against; a link in JSON has none
 */
async function fetchLink(
	link: string,
	base: string | undefined,
	connection: Connection,
): Promise<Received> {
	const { helpers, http, signal, secrets } = connection;
	const url = URL.canParse(link, base) ? new URL(link, base) : undefined;
	if (!url || !/^https?:$/.test(url.protocol)) throw new Failure('file.badLink');
	if (holdsSecret(url.href, secrets)) throw new Failure('file.linkHoldsKey');
	let answer: IN8nHttpFullResponse;
	try {
		answer = (await helpers.httpRequest({
			url: url.href,
			headers: UNPACKED,
			encoding: 'stream',
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			abortSignal: signal,
			...http,
		})) as IN8nHttpFullResponse;
	} catch (error) {
		throw networkFailure(error, signal, "the file's host" satisfies Host);
	}
	const received = { ...answer, body: answer.body as Readable, url: url.href };
	if (await isFile(received)) return received;
	discard(received.body, connection.abort);
	const { statusCode } = received;
	const transient = TRANSIENT.includes(statusCode);
	throw new Failure('file.notSent', { status: statusCode }, { httpStatus: statusCode, transient });
}

/** The link or the bytes that JSON holds: at File Path, or in `data`, or in `data.url`. */
function locate(answer: AnswerBody, filePath: string): string | Buffer {
	const places = filePath ? [filePath] : ['data', 'data.url'];
	const text = places.map((path) => valueAt(answer, path)).find((one) => typeof one === 'string');
	if (text === undefined || reportsError(answer)) throw notFound(answer, filePath);
	if (/^https?:\/\//i.test(text)) return text;
	return Buffer.from(text.replace(/^data:[^,]*;base64,/i, ''), 'base64');
}

function notFound(answer: AnswerBody, path: string): Failure {
	const { data } = answer as IDataObject;
	const names = [answer, data].filter(isObject).flatMap(Object.keys).slice(0, 20);
	return new Failure(path ? 'file.notAtPath' : 'file.none', { path, properties: names.join(', ') });
}

/** The name in a Content-Disposition header (RFC 6266), the extended one before the plain one. */
function nameOf({ headers }: Received): string {
	const header = String(headers['content-disposition'] ?? '');
	const [, extended] = /filename\*\s*=\s*utf-8'[^']*'([^;]+)/i.exec(header) ?? [];
	const [, quoted, bare] = /filename\s*=\s*(?:"([^"]*)"|([^;]+))/i.exec(header) ?? [];
	return decoded(extended?.trim() ?? '') || quoted || bare?.trim() || '';
}

/** A name that is no path, without what can't be seen or what Windows does not take, of at most 200 characters. */
function safeName(name: string): string {
	const base = name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1);
	return base
		.replace(/[\p{C}<>:"|?*]/gu, '')
		.replace(/^[.\s]+|[.\s]+$/g, '')
		.slice(-200);
}
