import type { IBinaryKeyData, IDataObject, IN8nHttpFullResponse } from 'n8n-workflow';

import { parseJson } from '../../shared/json';
import { hideSecrets, holdsSecret } from '../../shared/secrets';
import { inTurn, LONGEST_ANSWER } from '../http/answer';
import { Failure, withoutSecrets } from '../http/failure';
import { judge, reportsError, TRANSIENT } from '../http/judge';
import { networkFailure } from '../http/networkFailure';
import { type Connection, leave, type Readable, type Received, UNPACKED } from '../http/send';
import { type Content, readContent } from './fileContent';
import { readDisposition, safeFileName } from './fileName';
import {
	decode,
	fileTypeOf,
	isNeverText,
	locateFile,
	type Located,
	readMimeType,
} from './fileType';

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

/** What sends a file, as errors call it. */
type Host = 'the service' | "the file's host";

/** A file, and the request that it comes from. The name is as the sender wrote it, and not safe. */
interface Incoming {
	content: Readable | Buffer;
	name: string;
	mimeType: string;
	host: Host;
	abort: AbortController;
}

const MEGABYTE = 1024 * 1024;

/** Bytes: more than an error needs for its words. */
const LONGEST_ERROR = MEGABYTE;

/** Types that say nothing of a file: those of words, and of anything. */
const VAGUE_TYPE = /^$|^text\/|octet-stream$|[/+](?:json|xml)$/;

/**
 * Stores the file that a download was answered with: the answer's own bytes, what it redirects or
 * links to, or what it holds as base64. The specification does not say which (§4.2).
 * @throws Failure
 */
export async function storeFile(
	received: Received,
	settings: FileSettings,
	connection: Connection,
): Promise<StoredFile> {
	const { content, name, mimeType, abort, host } = await findFile(
		received,
		settings.filePath,
		connection,
	);
	const { secrets, helpers, cancelled } = connection;
	// Hidden before the name is cut, and again after it: without its unsafe characters, it may hold a secret.
	const hiddenName = hideSecrets(safeFileName(hideSecrets(name, secrets)), secrets);
	const fileName = safeFileName(settings.fileName) || hiddenName || 'resume';
	let lost: unknown;
	if (!Buffer.isBuffer(content)) content.once('error', (error) => (lost = error));
	try {
		// Name and type are always given: n8n 1.x would otherwise keep the URL, and 2.x can't tell them
		// from a stream (n8n-core's prepareBinaryData).
		const binary = await helpers.prepareBinaryData(content, fileName, mimeType);
		return { json: { fileName, mimeType }, binary: { [settings.field]: binary } };
	} catch (error) {
		// n8n may not have begun to read it.
		abort.abort();
		throw lost ? networkFailure(lost, cancelled, host) : notStored(error as { code?: string });
	}
}

function notStored({ code }: { code?: string }): Failure {
	return new Failure('file.notStored', {}, { code });
}

async function findFile(
	received: Received,
	filePath: string,
	connection: Connection,
): Promise<Incoming> {
	const { abort, secrets } = connection;
	const { statusCode, headers, body, url } = received;
	if (statusCode >= 300 && statusCode < 400 && headers.location) {
		leave(body, abort);
		return await fetchLink(String(headers.location), url, connection);
	}
	const host = 'the service';
	const answer = await readFileOrWords(received, host, filePath === '', connection);
	if ('content' in answer) return answer;
	let located: Located;
	try {
		located = locateFile(judge({ statusCode, body: answer.body }), filePath);
	} catch (error) {
		throw withoutSecrets(error, secrets);
	}
	if ('link' in located) return await fetchLink(located.link, undefined, connection);
	const content = located.bytes;
	const type = fileTypeOf(content);
	if (!type) refuseSecrets(decode(content), connection);
	return { content, name: '', mimeType: type ?? 'text/plain', host, abort };
}

/**
 * Fetches a file from where the service points, which is never shown the private key.
 * @param base what a relative link is resolved against; a link in JSON has none
 */
async function fetchLink(
	link: string,
	base: string | undefined,
	connection: Connection,
): Promise<Incoming> {
	const { helpers, http, cancelled, secrets } = connection;
	const url = URL.canParse(link, base) ? new URL(link, base) : undefined;
	if (!url || !['http:', 'https:'].includes(url.protocol)) {
		throw new Failure('file.badLink');
	}
	if (holdsSecret(url.href, secrets)) {
		throw new Failure('file.linkHoldsKey');
	}
	const host = "the file's host";
	const deadline = Date.now() + http.timeout;
	const abort = new AbortController();
	let response: IN8nHttpFullResponse;
	try {
		response = (await helpers.httpRequest({
			url: url.href,
			headers: UNPACKED,
			encoding: 'stream',
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			abortSignal: AbortSignal.any([abort.signal, ...(cancelled ? [cancelled] : [])]),
			...http,
		})) as IN8nHttpFullResponse;
	} catch (error) {
		throw networkFailure(error, cancelled, host);
	}
	const received = { ...response, body: response.body as Readable, url: url.href };
	const answer = await readFileOrWords(received, host, true, { ...connection, deadline, abort });
	if ('content' in answer) return answer;
	const { statusCode } = received;
	const transient = TRANSIENT.includes(statusCode);
	throw new Failure('file.notSent', { status: statusCode }, { httpStatus: statusCode, transient });
}

/**
 * Tells the file from words in its place, which are parsed where they are JSON.
 * @param takesText whether words that are sent as an attachment, and report no error, are the file
 */
async function readFileOrWords(
	{ statusCode, headers, body }: Received,
	host: Host,
	takesText: boolean,
	connection: Connection,
): Promise<Incoming | { body: unknown }> {
	const { abort, cancelled, secrets } = connection;
	if (statusCode === 206) {
		leave(body, abort);
		throw new Failure('file.partial', {}, { httpStatus: statusCode });
	}
	const mayBeFile = statusCode >= 200 && statusCode < 300;
	const { attachment, names } = readDisposition(String(headers['content-disposition'] ?? ''));
	const name = names.find((given) => safeFileName(given) !== '') ?? '';
	const declared = readMimeType(hideSecrets(String(headers['content-type'] ?? ''), secrets));
	// An error keeps the name and the type of the file that it comes in place of.
	const isText = mayBeFile && attachment && takesText && !isNeverText(declared, name);
	// With base64, the longest answer is a file of 24 MB.
	const limit = isText || (mayBeFile && host === 'the service') ? LONGEST_ANSWER : LONGEST_ERROR;
	let content: Content;
	try {
		content = await readContent(body, mayBeFile, limit, connection);
	} catch (error) {
		throw networkFailure(error, cancelled, host);
	}
	if ('file' in content) {
		const mimeType = VAGUE_TYPE.test(declared) ? content.type : declared;
		return { content: content.file, name, mimeType, host, abort };
	}
	const { words, whole } = content;
	if (mayBeFile && !whole) {
		const megabytes = limit / MEGABYTE;
		throw new Failure('file.tooLong', { host, megabytes }, { httpStatus: statusCode });
	}
	const text = decode(words);
	const parsed = await inTurn(words.length, () => parseJson(text));
	if (!isText || !text || reportsError(parsed)) return { body: parsed };
	refuseSecrets(text, connection);
	return { content: words, name, mimeType: declared || 'text/plain', host, abort };
}

/** Of words that are to be the file. Bytes are not searched, as they are streamed. */
function refuseSecrets(text: string, { secrets }: Connection): void {
	if (!holdsSecret(text, secrets)) return;
	throw new Failure('file.holdsSecret');
}
