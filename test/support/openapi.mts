import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';

import { valueAt } from '../../nodes/shared/json.ts';
import type { RecordedRequest } from '../../sandbox/server.mts';

export const OPENAPI_FILE = join(import.meta.dirname, '../../openapi/partner-api.yaml');

/** What may stand elsewhere in the document. */
interface Part {
	$ref?: string;
	content?: Record<string, { schema?: object }>;
}

interface Parameter extends Part {
	name: string;
	in: string;
	required?: boolean;
	schema: object;
}

interface Operation {
	operationId: string;
	requestBody?: Part;
	responses: Record<string, Part>;
}

interface OpenApi {
	paths: Record<string, { parameters: Parameter[]; get?: Operation; post?: Operation }>;
	components: { schemas: Record<string, object> };
}

/** An answer as it came over the wire. */
interface Answer {
	status: number;
	contentType: string;
	body: Buffer;
}

/** The OpenAPI document as it is, references unresolved. */
export function readOpenApi(): OpenApi {
	return parse(readFileSync(OPENAPI_FILE, 'utf8')) as OpenApi;
}

/** Every operation of the document. */
export function operationsOf({ paths }: OpenApi) {
	return Object.entries(paths).flatMap(([path, { parameters: _, ...methods }]) =>
		Object.entries(methods).map(([method, one]: [string, Operation]) => ({ ...one, method, path })),
	);
}

/** The operations that the node offers. */
export function offeredOperations() {
	return operationsOf(readOpenApi());
}

/**
 * Judges what goes over the wire by the OpenAPI document.
 *
 * Both judges return sentences that say what is wrong, none when all is well.
 */
export function createJudge(document = readOpenApi()) {
	// Not strict: the document has keywords of OpenAPI and of its own that JSON Schema has not.
	const ajv = new Ajv2020({ strict: false, allErrors: true });
	ajv.addSchema({ $id: 'openapi', ...document }, undefined, undefined, false);

	const resolve = <Target extends Part>(target: Target): Target => {
		if (target.$ref === undefined) return target;
		const keys = target.$ref.split('/').slice(1).join('.');
		return valueAt(document, keys) as Target;
	};

	const judgeBySchema = (schema: object, value: unknown): string[] => {
		const absolute = JSON.parse(
			JSON.stringify(schema).replaceAll('"$ref":"#', '"$ref":"openapi#'),
		) as object;
		const validate = ajv.compile(absolute);
		return validate(value) ? [] : [ajv.errorsText(validate.errors)];
	};

	const judgeByContent = (
		content: NonNullable<Part['content']>,
		contentType: string,
		body: Buffer | string,
	): string[] => {
		const entry = content[contentType.split(';')[0]!] ?? content['*/*'];
		if (!entry) return [`content type "${contentType}" is not in the OpenAPI document`];
		return entry.schema ? judgeBySchema(entry.schema, JSON.parse(body.toString())) : [];
	};

	/** @throws {Error} the document has no such operation */
	const find = (method: string, url: string) => {
		const path = url.split('?')[0]!;
		const found = operationsOf(document).find((one) => {
			const pattern = new RegExp(`^/v1${one.path.replace(/\{\w+\}/g, '[^/]+')}$`);
			return one.method === method.toLowerCase() && pattern.test(path);
		});
		if (!found) throw new Error(`${method} ${url} is not in the OpenAPI document`);
		return found;
	};

	return {
		judgeRequest({ method, url, headers, body }: RecordedRequest): string[] {
			const { path, requestBody = {} } = find(method, url);
			const problems = document.paths[path]!.parameters.map(resolve)
				.filter((parameter) => parameter.in === 'header')
				.flatMap(({ name, schema, required }) => {
					const value = headers[name.toLowerCase()];
					if (value === undefined) return required ? [`the header ${name} is missing`] : [];
					return judgeBySchema(schema, value).map((problem) => `${name}: ${problem}`);
				});
			const { content } = resolve(requestBody);
			if (content)
				return [...problems, ...judgeByContent(content, headers['content-type'] ?? '', body)];
			return body === '' ? problems : [...problems, 'the operation has no body'];
		},

		judgeAnswer(request: RecordedRequest, answer: Answer): string[] {
			const { responses } = find(request.method, request.url);
			const response = responses[answer.status];
			if (response === undefined) return [`HTTP ${answer.status} is not in the OpenAPI document`];
			return judgeByContent(resolve(response).content ?? {}, answer.contentType, answer.body);
		},

		/** @param name of a schema under `components` */
		judgeSchema(name: string, value: unknown): string[] {
			return judgeBySchema({ $ref: `#/components/schemas/${name}` }, value);
		},
	};
}
