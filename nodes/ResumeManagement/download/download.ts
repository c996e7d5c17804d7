import type { IN8nHttpFullResponse, INodeExecutionData } from 'n8n-workflow';

import { Failure, withoutSecrets } from '../answer/failure';
import { type AnswerBody, judge, TRANSIENT } from '../answer/judge';
import { networkFailure } from '../answer/networkFailure';
import { hide, holdsSecret, type Secrets } from '../answer/secrets';
import type { Connection } from '../request/exchange';
import type { Readable, Received } from '../request/send';
import { type Content, type IncomingFile, MAX_ERROR_BYTES, readContent } from './content';
import { safeFileName } from './fileName';
import { readMimeType } from './headers';
import { locateFile } from './locate';
import { leave } from './stream';

/** Where the user wants the file. */
export interface FileSettings {
	/** The item's binary field. */
	field: string;
	/** '' to take the name that the service sends. */
	fileName: string;
}

/** A file, and the request that it comes from. */
interface Incoming {
	file: IncomingFile;
	abort: AbortController;
	/** What sends it, as errors call it. */
	host: string;
}

/** Bytes of a JSON answer, which is held in memory: a file of 48 MB as base64. */
const MAX_JSON_BYTES = 64 * 1024 * 1024;

const SERVICE = 'the service';
const FILE_HOST = "the file's host";

/**
 * Stores the file that a download was answered with: the answer's own bytes, what it redirects or
 * links to, or what it holds as base64. The specification does not say which (§4.2).
 * @throws Failure
 */
export async function storeFile(
	received: Received,
	settings: FileSettings,
	connection: Connection,
): Promise<INodeExecutionData> {
	const { file, abort, host } = await findFile(received, connection);
	const { secrets, helpers, cancelled } = connection;
	const fileName = safeFileName(settings.fileName) || hiddenName(file.name, secrets) || 'resume';
	// Name and type are always given: n8n 1.x would otherwise keep the URL, and 2.x can't tell them
	// from a stream (n8n-core's prepareBinaryData).
	const anyCase = new RegExp(secrets, 'giu');
	const mimeType = hide(file.mimeType, anyCase) || 'application/octet-stream';
	let lost: unknown;
	if (!Buffer.isBuffer(file.content)) file.content.once('error', (error) => (lost = error));
	try {
		const binary = await helpers.prepareBinaryData(file.content, fileName, mimeType);
		// The JSON is all that an AI agent gets of the file: n8n leaves binary data out of a tool's answer.
		return { json: { fileName, mimeType }, binary: { [settings.field]: binary } };
	} catch (error) {
		// n8n may not have begun to read it.
		abort.abort();
		throw lost ? networkFailure(lost, cancelled, host) : notStored(error as { code?: string });
	}
}

/** Hidden before the name is cut, and again, as what is left out of it may have stood within a secret. */
function hiddenName(name: string, secrets: Secrets): string {
	return hide(safeFileName(hide(name, secrets)), secrets);
}

function notStored({ code }: { code?: string }): Failure {
	return new Failure(
		"The file could not be put into n8n's binary store",
		'Check the free space of the disk or database that n8n keeps files in.',
		{ code },
	);
}

async function findFile(received: Received, connection: Connection): Promise<Incoming> {
	const { http, deadline, abort, cancelled } = connection;
	const { statusCode, headers, body, url } = received;
	if (statusCode >= 300 && statusCode < 400 && headers.location) {
		leave(body, abort);
		return await fetchLink(String(headers.location), url, connection);
	}
	const patience = { idle: http.timeout, deadline };
	let content: Content;
	try {
		content = await readContent(received, { patience, abort, maxBytes: MAX_JSON_BYTES });
	} catch (error) {
		throw networkFailure(error, cancelled, SERVICE);
	}
	if ('file' in content) return { file: content.file, abort, host: SERVICE };
	if (!content.whole && statusCode < 300) {
		throw new Failure(
			'The answer is longer than 64 MB, and is not a file',
			'A file within JSON is held in memory, and may be at most 48 MB. Ask your account manager for another way to get it.',
			{ httpStatus: statusCode },
		);
	}
	const located = locateFile(judged(content.body, statusCode, connection));
	if (!located) {
		throw new Failure(
			'The answer holds no file',
			"The service sent JSON without a file as base64, and without one link under a name such as fileUrl. Ask your account manager how it delivers files; the node's documentation lists the names.",
			{ httpStatus: statusCode },
		);
	}
	if ('link' in located) return await fetchLink(located.link, undefined, connection);
	const file = {
		content: Buffer.from(located.base64, 'base64'),
		name: located.name,
		mimeType: readMimeType(located.mimeType),
	};
	return { file, abort, host: SERVICE };
}

function judged(body: unknown, statusCode: number, { secrets }: Connection): AnswerBody {
	try {
		return judge({ statusCode, body });
	} catch (error) {
		throw withoutSecrets(error, secrets);
	}
}

/**
 * Fetches a file from where the service points, which is never shown the private key.
 * @param base what a relative link is resolved against; a link in JSON has none
 */
async function fetchLink(
	link: string,
	base: string | undefined,
	{ helpers, http, cancelled, secrets }: Connection,
): Promise<Incoming> {
	const url = URL.canParse(link, base) ? new URL(link, base) : undefined;
	if (!url || !['http:', 'https:'].includes(url.protocol)) {
		throw new Failure(
			"The file's link can't be followed",
			'The service sent a link that is neither http nor https. Ask your account manager.',
		);
	}
	if (holdsSecret(url.href, secrets)) {
		throw new Failure(
			"The file's link holds the private key, and was not followed to keep the key safe",
			'Ask your account manager for links without it.',
		);
	}
	const deadline = Date.now() + http.timeout;
	const abort = new AbortController();
	let received: Received;
	let content: Content;
	try {
		const answer = (await helpers.httpRequest({
			url: url.href,
			encoding: 'stream',
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			abortSignal: AbortSignal.any([abort.signal, ...(cancelled ? [cancelled] : [])]),
			...http,
		})) as IN8nHttpFullResponse;
		received = { ...answer, body: answer.body as Readable, url: url.href };
		const patience = { idle: http.timeout, deadline };
		content = await readContent(received, { patience, abort, maxBytes: MAX_ERROR_BYTES });
	} catch (error) {
		throw networkFailure(error, cancelled, FILE_HOST);
	}
	if ('file' in content) return { file: content.file, abort, host: FILE_HOST };
	throw new Failure(
		`The file's host sent no file (HTTP ${received.statusCode})`,
		'The link may have expired. Try again later. If this keeps happening, ask your account manager.',
		{ httpStatus: received.statusCode, transient: TRANSIENT.includes(received.statusCode) },
	);
}
