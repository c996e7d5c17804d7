import axios from 'axios';

import { SANDBOX_KEYS } from '../../sandbox/seed.mts';
import type { RecordedRequest, Sandbox } from '../../sandbox/server.mts';
import { createJudge } from './openapi.mts';

export interface CallOptions {
	/** An object is sent as JSON, a string as it is. */
	body?: object | string;
	/** In place of the two required headers. */
	headers?: Record<string, string>;
	/** The private key or token to authenticate with; the live key when missing. */
	key?: string;
}

export interface CallResult {
	status: number;
	headers: Record<string, unknown>;
	body: Buffer;
	/** The body read as JSON. */
	json(): Record<string, unknown>;
	/** What is wrong with the request by the OpenAPI document. */
	requestProblems: string[];
	/** What is wrong with the answer by the OpenAPI document. */
	answerProblems: string[];
}

const judge = createJudge();

/**
 * Sends a request over a real socket and judges both directions by the OpenAPI document.
 *
 * @param sandbox one that records its requests
 * @param path under the base address
 * @throws when the connection is cut, or when the document has no such operation
 */
export async function call(
	sandbox: Sandbox,
	method: 'GET' | 'POST',
	path: string,
	{ body, key = SANDBOX_KEYS.live, headers = requiredHeaders(key) }: CallOptions = {},
): Promise<CallResult> {
	const answer = await axios.request<Buffer>({
		method,
		url: sandbox.baseUrl + path,
		data: typeof body === 'object' ? JSON.stringify(body) : body,
		headers: { 'Content-Type': false, ...headers },
		responseType: 'arraybuffer',
		maxRedirects: 0,
		validateStatus: () => true,
		timeout: 10_000,
	});
	const request = sandbox.requests.at(-1) as RecordedRequest;
	const { status, data } = answer;
	const contentType = String(answer.headers['content-type']);
	return {
		status,
		headers: answer.headers,
		body: data,
		json: () => JSON.parse(data.toString()) as Record<string, unknown>,
		requestProblems: judge.judgeRequest(request),
		answerProblems: judge.judgeAnswer(request, { status, contentType, body: data }),
	};
}

/** The headers of every request (specification §4 and §5). */
export function requiredHeaders(key: string): Record<string, string> {
	return { 'Content-Type': 'application/json', Authentication: `Bearer ${key}` };
}
