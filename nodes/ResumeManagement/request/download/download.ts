import type { IExecuteFunctions, IN8nHttpFullResponse } from 'n8n-workflow';

import type { Failure } from '../failure';
import { type Answer, judge } from '../judge';
import type { Operation, Shaped } from '../operation';
import type { Parameters } from '../parameters';
import type { HttpSettings } from '../requestOptions';
import { transportFailure } from '../transport';
import { readFileName, readMimeType, safeFileName } from './headers';
import { locateFile } from './locate';
import { type Readable, withIdleTimeout } from './stream';

/** What a download needs beside its answer. */
export interface DownloadContext {
	helpers: Pick<IExecuteFunctions['helpers'], 'httpRequest' | 'prepareBinaryData'>;
	operation: Operation;
	parameters: Parameters;
	/** Against which a redirect is resolved. */
	baseUrl: string;
	/** Settings of the run; `timeout` (milliseconds) also bounds the silence within a body. */
	http: HttpSettings & { timeout: number };
	/** Ends the requests of this download, as does `signal`. */
	abort: AbortController;
	signal: AbortSignal;
}

/** A file on its way into n8n's binary store; name and type are '' when nobody gave them. */
interface IncomingFile {
	content: Readable | Buffer;
	name: string;
	mimeType: string;
}

type Read<T> = T | { failure: Failure };

/**
 * Stores the file that a download was answered with: the answer's own bytes, what it redirects or
 * links to, or what it holds as base64. The specification does not say which (§4.2).
 * @param answer with its body as a stream
 */
export async function storeFile(
	answer: IN8nHttpFullResponse,
	context: DownloadContext,
): Promise<Shaped> {
	const found = await findFile(answer, context);
	if ('failure' in found) return found;
	const { content, name, mimeType } = found.file;
	const { helpers, parameters } = context;
	const fileName = safeFileName(parameters.option('fileName', '')) || name || 'resume';
	let lost: unknown;
	if (!Buffer.isBuffer(content)) content.once('error', (error) => (lost = error));
	try {
		// Name and type are always given: n8n 1.x would otherwise keep the URL, and 2.x can't tell
		// them from a stream (n8n-core's prepareBinaryData).
		const type = mimeType || 'application/octet-stream';
		const binary = await helpers.prepareBinaryData(content, fileName, type);
		return {
			items: [
				{
					// All that an AI agent gets of the file: n8n leaves binary data out of a tool's answer.
					json: { fileName, mimeType: type },
					binary: { [parameters.text('binaryPropertyName')]: binary },
				},
			],
		};
	} catch (error) {
		return {
			failure: lost
				? transportFailure(lost)
				: {
						message: "The file could not be put into n8n's binary store",
						description: 'Check the free space of the disk or database that n8n keeps files in.',
						code: (error as { code?: string }).code,
					},
		};
	}
}

async function findFile(
	answer: IN8nHttpFullResponse,
	context: DownloadContext,
): Promise<Read<{ file: IncomingFile }>> {
	const read = await readBody(answer, context);
	if (!('answer' in read)) return read;
	const { statusCode, headers } = answer;
	if (statusCode >= 300 && statusCode < 400 && headers.location) {
		return await fetchLink(String(headers.location), context);
	}
	const verdict = judge(read.answer, context.operation);
	if ('failure' in verdict) return verdict;
	const located = locateFile(verdict.body);
	if (!located) {
		return {
			failure: {
				message: 'The answer holds no file',
				description:
					'The service sent JSON that has neither one link nor one file as base64 in it. Ask your account manager how it delivers files.',
				httpStatus: statusCode,
			},
		};
	}
	if ('link' in located) return await fetchLink(located.link, context);
	return {
		file: {
			content: Buffer.from(located.base64, 'base64'),
			name: safeFileName(located.name),
			mimeType: readMimeType(located.mimeType),
		},
	};
}

/** Fetches a file from where the service points, which is never shown the private key. */
async function fetchLink(
	link: string,
	context: DownloadContext,
): Promise<Read<{ file: IncomingFile }>> {
	const { helpers, baseUrl, http, signal } = context;
	const url = URL.canParse(link, baseUrl) ? new URL(link, baseUrl) : undefined;
	if (!url || !['http:', 'https:'].includes(url.protocol)) {
		return {
			failure: {
				message: "The file's link can't be followed",
				description:
					'The service sent a link that is neither http nor https. Ask your account manager.',
			},
		};
	}
	let answer: IN8nHttpFullResponse;
	try {
		answer = (await helpers.httpRequest({
			url: url.href,
			encoding: 'stream',
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			abortSignal: signal,
			...http,
		})) as IN8nHttpFullResponse;
	} catch (error) {
		return { failure: transportFailure(error, "the file's host") };
	}
	const read = await readBody(answer, context);
	if (!('answer' in read)) return read;
	return {
		failure: {
			message: `The file's host sent no file (HTTP ${answer.statusCode})`,
			description:
				'The link may have expired. Try again later. If it goes on, ask your account manager.',
			httpStatus: answer.statusCode,
		},
	};
}

/** Tells a file, which stays a stream, from a text in its place, which is read and parsed. */
async function readBody(
	{ statusCode, headers, body }: IN8nHttpFullResponse,
	{ http, abort }: DownloadContext,
): Promise<Read<{ file: IncomingFile } | { answer: Answer }>> {
	const mimeType = readMimeType(headers['content-type']);
	const name = readFileName(headers['content-disposition']);
	const content = withIdleTimeout(body as Readable, http.timeout, abort);
	const ok = statusCode >= 200 && statusCode < 300;
	const textual = /json|html|^text\/plain$/.test(mimeType) && !(name && !/json/.test(mimeType));
	if (ok && !textual && headers['content-length'] !== '0' && statusCode !== 204) {
		return { file: { content, name, mimeType } };
	}
	const chunks: Uint8Array[] = [];
	try {
		for await (const chunk of content) chunks.push(chunk as Uint8Array);
	} catch (error) {
		return { failure: transportFailure(error) };
	}
	const bytes = Buffer.concat(chunks);
	const parsed = parse(bytes.toString('utf8'));
	if (ok && typeof parsed === 'string' && parsed !== '' && mimeType === 'text/plain') {
		return { file: { content: bytes, name, mimeType } };
	}
	return { answer: { statusCode, body: parsed } };
}

function parse(text: string): unknown {
	try {
		return JSON.parse(text) as unknown;
	} catch {
		return text;
	}
}
