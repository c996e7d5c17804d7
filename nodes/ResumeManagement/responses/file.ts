import type {
	IBinaryData,
	IDataObject,
	IExecuteFunctions,
	IExecutePaginationFunctions,
	INodeExecutionData,
} from 'n8n-workflow';

import { Failure, isErrorOfN8n } from '../../shared/failure';
import { decodeHeader } from '../../shared/json';
import type { ParameterReader } from '../../shared/parameters';
import { HIDDEN, hideSecrets } from '../../shared/secrets';
import {
	type JsonBody,
	judge,
	type ParsedResponse,
	reportsError,
	retryAfterOf,
	TRANSIENT,
} from '../http/judge';
import { networkFailure, SERVICE } from '../http/networkFailure';
import { parseBody, readBody, readJson, withRetries } from '../http/request';
import {
	cancelSignalOf,
	discard,
	type HttpRequest,
	type HttpResponse,
	type Readable,
	requestLink,
	send,
} from '../http/send';
import { dispositionOf, mimeTypeOf, safeFileName } from './fileNames';
import { readStart, toStream } from './fileStream';
import {
	beginsAsPage,
	FILE_START,
	fileTypeOf,
	isBinaryFile,
	isBinaryType,
	isPdf,
	packingOf,
	PDF,
} from './fileTypes';
import { fromBase64, locateFile } from './locateFile';

/** n8n's context of a run: pick lists store no files. */
type RunContext = IExecuteFunctions | IExecutePaginationFunctions;

/**
 * A response that is a file: the response's own bytes, the target of a redirect or a link, or
 * base64 in JSON. The specification does not show which of them the service sends (§4.2).
 */
export class FileOutput {
	/** Binary field of the item. */
	private readonly field: string;

	/** Replaces the name that the service sends; '' to keep it. */
	private readonly fileName: string;

	/** Dotted path of the file in a JSON response; '' to find it. */
	private readonly filePath: string;

	/** @throws Failure */
	constructor(parameters: ParameterReader) {
		this.field = parameters.text('binaryPropertyName');
		this.fileName = parameters.unfilteredText('options.fileName');
		this.filePath = parameters.optionalText('options.filePath');
	}

	/**
	 * Requests the file, and streams it into n8n's binary store. n8n shows only the item's `json` to
	 * an AI agent.
	 * @throws Failure
	 */
	async fetchItems(context: RunContext, request: HttpRequest): Promise<INodeExecutionData[]> {
		return await withRetries(request, cancelSignalOf(context), async () => {
			const file = await requestFile(context, request, this.filePath);
			const binary = await store(context, file, this.fileName);
			const { fileName, mimeType } = binary;
			return [{ json: { fileName, mimeType }, binary: { [this.field]: binary } }];
		});
	}
}

interface FoundFile {
	content: Readable | Buffer;
	/** '' if nothing declares it. */
	type: string;
	/** Headers with the file's name. */
	headers: IDataObject;
	/** The response that the file is from. */
	response: HttpResponse;
}

/**
 * Requests the file from the service or, if the response leads to another address, from there.
 * @throws Failure
 */
async function requestFile(
	context: RunContext,
	request: HttpRequest,
	filePath: string,
): Promise<FoundFile> {
	const response = await send(context, { ...request, file: true });
	const { headers } = response;
	const redirect = redirectOf(response);
	if (redirect !== undefined) {
		discard(response);
		return await requestLinkedFile(context, request, toAddress(redirect, response.url));
	}
	// With File Path, an attached text is the JSON that leads to the file.
	const isTextFile = dispositionOf(headers).isAttachment && filePath === '';
	const opened = await open(response, isTextFile ? 'any' : 'none');
	if ('content' in opened) return { ...opened, headers, response };
	const located = locateFile(judgeJson(opened.parsed), filePath);
	if ('bytes' in located) return { content: located.bytes, type: '', headers: {}, response };
	const isFromFilePath = filePath !== '';
	return await requestLinkedFile(context, request, toAddress(located.link), isFromFilePath);
}

/**
 * Returns where a redirect leads to; undefined for any other response. n8n's client would follow
 * it, but take UTF-8 for Latin-1.
 */
function redirectOf({ statusCode, headers, secrets }: HttpResponse): string | undefined {
	const isRedirect = statusCode >= 300 && statusCode < 400 && statusCode !== 304;
	if (!isRedirect || !headers.location) return undefined;
	return hideSecrets(decodeHeader(headers.location), secrets);
}

/** Redirects of a link that are followed. */
const MAX_REDIRECTS = 10;

/**
 * Requests the file from another host.
 * @param isFromFilePath the user says that the link leads to the file, so that it may be text that
 *   is not sent as an attachment, but no page: a link that has expired may lead to one
 * @throws Failure
 */
async function requestLinkedFile(
	context: RunContext,
	request: HttpRequest,
	url: string,
	isFromFilePath = false,
): Promise<FoundFile> {
	let response = await requestLink(context, request, url);
	for (let redirects = 1; ; redirects++) {
		const redirect = redirectOf(response);
		if (redirect === undefined) break;
		discard(response);
		if (redirects > MAX_REDIRECTS) throw new Failure('file.badLink');
		response = await requestLink(context, request, toAddress(redirect, response.url));
	}
	const { statusCode: status, headers, host } = response;
	if (status !== 200) {
		discard(response);
		const retryAfter = retryAfterOf(headers);
		const facts = { httpStatus: status, transient: TRANSIENT.includes(status), retryAfter };
		throw new Failure('file.notSent', { status }, facts);
	}
	const otherTexts = isFromFilePath ? 'noPage' : 'none';
	const opened = await open(response, dispositionOf(headers).isAttachment ? 'any' : otherTexts);
	if ('content' in opened) return { ...opened, headers, response };
	throw new Failure('file.isText', host, { httpStatus: status });
}

/**
 * @param link without secrets, which are hidden in it
 * @param base address that a redirect is relative to; undefined for a link in JSON
 * @throws Failure
 */
function toAddress(link: string, base?: string): string {
	if (link.includes(HIDDEN)) throw new Failure('file.linkHoldsKey');
	const url = URL.canParse(link, base) && new URL(link, base);
	if (!url || !/^https?:$/.test(url.protocol)) throw new Failure('file.badLink');
	return url.href;
}

/**
 * Values of Content-Encoding that change no byte. The last three are mistakes that file stores
 * make.
 */
const NO_ENCODING = ['', 'identity', 'none', 'utf-8', 'aws-chunked'];

/**
 * Opens a response: returns its file or, if it is none, what came instead. The first rule that
 * applies decides:
 *
 * 1. An HTTP error is no file.
 * 2. Bytes whose packing was not undone are an error.
 * 3. Bytes that begin as a file of their declared type, or as a PDF, are the file. It is not read
 *    further here.
 * 4. Base64 of a PDF or another binary file is that file. No other text that is declared as a PDF
 *    is one.
 * 5. Any other text is the file if such texts are accepted. A blank text and an error of the
 *    service never are.
 * @param texts that are accepted: any, any but web pages, or none
 * @throws Failure
 */
async function open(
	response: HttpResponse,
	texts: 'any' | 'noPage' | 'none',
): Promise<Pick<FoundFile, 'content' | 'type'> | { parsed: ParsedResponse }> {
	const { statusCode, headers } = response;
	if (statusCode !== 200) return { parsed: await readJson(response) };
	const declared = declaredType(headers);
	const started = await readStart(response, FILE_START);
	const packing = packingLeftOn(started.start, declared, headers);
	if (packing !== '') {
		discard(response);
		throw new Failure('file.compressed', { encoding: packing }, { httpStatus: 200 });
	}
	const type = fileTypeOf(started.start, declared);
	if (type !== undefined) return { content: toStream(started, response), type };

	const body = await readBody({ ...response, body: started.whole });
	const parsed = await parseBody(response, body);
	const text = typeof parsed.body === 'string' ? parsed.body.trim() : undefined;
	const decoded = fromBase64(text ?? '');
	if (decoded && isPdf(decoded)) return { content: decoded, type: PDF };
	if (declared === PDF) return { parsed };
	if (decoded && isBinaryFile(decoded)) {
		return { content: decoded, type: isBinaryType(declared) ? declared : '' };
	}
	const isAccepted = texts === 'any' || (texts === 'noPage' && !beginsAsPage(body.bytes));
	const isNeverFile = text === '' || reportsError(parsed.body);
	return isAccepted && !isNeverFile ? { content: body.bytes, type: declared } : { parsed };
}

/**
 * Returns the type that a response declares. A name that ends in `.pdf` declares a PDF, whatever
 * its type: what comes in place of a file, such as a login page, may keep the file's name.
 */
function declaredType(headers: IDataObject): string {
	const isNamedPdf = /\.pdf$/i.test(safeFileName(dispositionOf(headers).fileName));
	return isNamedPdf ? PDF : mimeTypeOf(headers);
}

/** Returns how a file that n8n's client should have unpacked is still packed; '' if it is not. */
function packingLeftOn(start: Buffer, type: string, headers: IDataObject): string {
	const encoding = String(headers['content-encoding'] ?? '');
	// Some stores label a PDF with an encoding that it does not have, such as base64.
	const isLabelled = !NO_ENCODING.includes(encoding.toLowerCase()) && !isPdf(start);
	if (isLabelled) return encoding;
	const isArchive = /gzip|zstd|tar\b/.test(type);
	return isArchive ? '' : packingOf(start);
}

/** Judges the JSON that has come instead of a file. @throws Failure */
function judgeJson(response: ParsedResponse): JsonBody {
	try {
		return judge(response);
	} catch (error) {
		// The user expects a file, and not JSON.
		const isNotJson = error instanceof Failure && error.id === 'response.notJson';
		throw isNotJson ? new Failure('file.isText', SERVICE, error.facts) : error;
	}
}

/** Type of a file of which nothing is known. */
const UNKNOWN = 'application/octet-stream';

/**
 * @param wantedName replaces the file's own name, unless it is ''
 * @throws Failure; n8n's own errors
 */
async function store(
	context: RunContext,
	file: FoundFile,
	wantedName: string,
): Promise<IBinaryData> {
	const { content, type, headers, response } = file;
	const { secrets } = response;
	// A text or base64 may repeat the request with its key. A streamed file is the user's own
	// document, and is not searched.
	if (Buffer.isBuffer(content) && secrets.some((secret) => content.includes(secret))) {
		throw new Failure('file.holdsSecret');
	}
	const sentName = hideSecrets(dispositionOf(headers).fileName, secrets);
	const wanted = safeFileName(wantedName);
	const name = wanted || safeFileName(sentName) || 'resume';
	const binary = await put(context, file, name, hideSecrets(type, secrets));
	return wanted === '' ? { ...binary, fileName: withExtension(name, binary) } : binary;
}

/** Adds the extension of a file's type to a name without a dot. */
function withExtension(name: string, { mimeType, fileExtension }: IBinaryData): string {
	const isComplete = name.includes('.') || !fileExtension || mimeType === UNKNOWN;
	return isComplete ? name : `${name}.${fileExtension}`;
}

/** Puts a file into n8n's binary store. @throws Failure; n8n's own errors */
async function put(
	{ helpers }: RunContext,
	file: FoundFile,
	name: string,
	type: string,
): Promise<IBinaryData> {
	const { content, response } = file;
	// n8n finds the type of a buffer itself (n8n-core's binary-helper-functions.ts).
	const typeIfUnknown = Buffer.isBuffer(content) ? undefined : UNKNOWN;
	try {
		return await helpers.prepareBinaryData(content, name, type || typeIfUnknown);
	} catch (error) {
		// Before `abort`, after which each body looks cancelled.
		const failure = putFailure(error, file);
		// n8n may not have read the whole body.
		response.limit.abort();
		throw failure;
	}
}

/** Returns the failure of the body if it did not arrive whole, else that of n8n's store. */
function putFailure(error: unknown, { content, response: { limit, host } }: FoundFile): Error {
	const bodyError = Buffer.isBuffer(content) ? null : content.errored;
	if (bodyError) return networkFailure(bodyError, limit.signal, host);
	if (isErrorOfN8n(error)) return error;
	const { code } = error as { code?: string };
	return new Failure('file.notStored', {}, { code });
}
