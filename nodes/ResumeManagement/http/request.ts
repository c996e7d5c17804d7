import { Failure } from '../../shared/failure';
import { charsetOf, decodeText, parseJson } from '../../shared/json';
import { hideSecrets, type SecretSpellings } from '../../shared/secrets';
import { type JsonBody, judge, type ParsedResponse, retryAfterOf } from './judge';
import { networkFailure } from './networkFailure';
import { pause } from './pause';
import {
	cancelSignalOf,
	type HttpContext,
	type HttpRequest,
	type HttpResponse,
	send,
} from './send';

/**
 * Bytes, unpacked, of a response that is not a file: it is held in memory, and n8n waits while it
 * is parsed.
 */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

/**
 * Bytes, unpacked, that the node reads of an HTTP error's body: a run may hold one for each open
 * request.
 */
const MAX_ERROR_BYTES = 64 * 1024;

/** Sends a request, with retries, and returns its response if that is a success. @throws Failure */
export async function requestJson(
	context: HttpContext,
	request: HttpRequest,
): Promise<ParsedResponse & { body: JsonBody }> {
	return await withRetries(request, cancelSignalOf(context), async () => {
		const response = await readJson(await send(context, request));
		return { ...response, body: judge(response) };
	});
}

/**
 * The pause after attempt n (from 0) is random, so that clients do not repeat all at once: up to
 * `FIRST_PAUSE_MS * 2^n`, and at most `MAX_PAUSE_MS`.
 */
const FIRST_PAUSE_MS = 500;

/** If the service asks for a longer pause, the request fails, with the pause in its error. */
const MAX_PAUSE_MS = 60_000;

/**
 * Repeats an attempt until it succeeds or must not be repeated.
 * @param retries most attempts after the first one
 * @throws the Failure of the last attempt
 */
export async function withRetries<T>(
	{ retries, write }: Pick<HttpRequest, 'retries' | 'write'>,
	cancelled: AbortSignal | undefined,
	attempt: () => Promise<T>,
): Promise<T> {
	if (cancelled?.aborted) throw new Failure('network.notSent', {}, { outcome: 'refused' });
	for (let retry = 0; ; retry++) {
		let error: unknown;
		try {
			return await attempt();
		} catch (reason) {
			error = reason;
		}
		if (retry === retries || !(error instanceof Failure) || !mayRepeat(error, write)) throw error;
		const longest = Math.min(FIRST_PAUSE_MS * 2 ** retry, MAX_PAUSE_MS);
		await pause(Math.max(error.facts.retryAfter ?? 0, Math.random() * longest), cancelled);
		if (cancelled?.aborted) throw error;
	}
}

/** Checks whether the same request may succeed later and, for a write, provably did nothing. */
function mayRepeat({ facts, outcome }: Failure, write = false): boolean {
	if (!facts.transient || (facts.retryAfter ?? 0) > MAX_PAUSE_MS) return false;
	return !write || outcome === 'refused';
}

/** Reads and parses a response, and hides the secrets in it. @throws Failure */
export async function readJson(response: HttpResponse): Promise<ParsedResponse> {
	return await parseBody(response, await readBody(response));
}

/**
 * Reads the bytes of a body. The start is enough of an HTTP error, even if the body breaks off
 * there: its status counts.
 * @throws Failure if the body of another response is too long, or was not received whole
 */
export async function readBody(
	response: Omit<HttpResponse, 'body'> & { body: AsyncIterable<Uint8Array> | Uint8Array[] },
): Promise<{ bytes: Buffer; isTruncated: boolean }> {
	const { statusCode, headers, body, host, limit } = response;
	const isError = statusCode !== 200;
	const longest = isError ? MAX_ERROR_BYTES : MAX_BODY_BYTES;
	const chunks: Uint8Array[] = [];
	let length = 0;
	let isTruncated = false;
	try {
		for await (const chunk of body) {
			chunks.push(chunk);
			length += chunk.length;
			isTruncated = length > longest;
			// Leaving the loop destroys the stream, which closes its connection.
			if (isTruncated) break;
		}
	} catch (error) {
		if (!isError || limit.signal.aborted) {
			throw networkFailure(error, limit.signal, host).with({ retryAfter: retryAfterOf(headers) });
		}
		isTruncated = true;
	} finally {
		limit.stop();
	}
	if (isTruncated && !isError) {
		const megabytes = MAX_BODY_BYTES / 1024 / 1024;
		throw new Failure('response.tooLong', { megabytes }, { httpStatus: statusCode });
	}
	return { bytes: Buffer.concat(chunks).subarray(0, longest), isTruncated };
}

/** Parses a body, if it is JSON, and hides the secrets in it. @throws Failure */
export async function parseBody(
	response: HttpResponse,
	{ bytes, isTruncated }: { bytes: Buffer; isTruncated: boolean },
): Promise<ParsedResponse> {
	const { statusCode, headers, secrets } = response;
	const unpacked = await unpack(await unpack(bytes));
	const text = decodeText(unpacked, charsetOf(headers['content-type']));
	const shown = isTruncated ? withoutCutSecret(text, secrets) : text;
	const parsed = parseJson(shown);
	try {
		const body = hideSecrets(parsed === undefined ? shown : parsed, secrets);
		return { statusCode, headers, body, isTruncated };
	} catch {
		throw tooDeep(statusCode);
	}
}

/** `hideSecrets` throws nothing but a RangeError: more levels than the stack of Node.js. */
function tooDeep(httpStatus: number): Failure {
	return new Failure('response.tooDeep', {}, { httpStatus });
}

/** Checks for the first bytes of gzip (RFC 1952, §2.3.1). */
export function isGzip([first, second, method]: Buffer): boolean {
	return first === 0x1f && second === 0x8b && method === 8;
}

/**
 * Unpacks gzip that n8n's client has left: some proxies remove the label of a packed body, or pack
 * it twice. Other bytes stay as they are.
 * @returns the bytes as they are if they can't be unpacked, or become too long
 */
async function unpack(bytes: Buffer): Promise<Buffer> {
	if (!isGzip(bytes)) return bytes;
	const chunks: Uint8Array[] = [];
	let length = 0;
	try {
		const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
		for await (const chunk of unpacked) {
			chunks.push(chunk);
			length += chunk.length;
			if (length > MAX_BODY_BYTES) return bytes;
		}
	} catch {
		return bytes;
	}
	return Buffer.concat(chunks);
}

/** Leaves out the end of a truncated text: a part of a secret there would not be found. */
function withoutCutSecret(text: string, secrets: SecretSpellings): string {
	const longest = Math.max(0, ...secrets.map(({ length }) => length));
	return text.slice(0, Math.max(0, text.length - longest));
}
