import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';

/** Either the response or a reference to it. */
interface Response {
	$ref?: string;
	content?: Record<string, { schema?: object }>;
}

export interface Operation {
	operationId: string;
	requestBody?: object;
	responses: Record<string, Response>;
}

interface OpenApi {
	paths: Record<string, { parameters: object[]; get?: Operation; post?: Operation }>;
	components: { responses: Record<string, Response>; schemas: Record<string, object> };
}

const file = join(import.meta.dirname, '../../openapi/partner-api.yaml');
export const document = parse(readFileSync(file, 'utf8')) as OpenApi;

/** Returns the operations of the document. The node offers the same ones. */
export function offeredOperations() {
	return Object.entries(document.paths).flatMap(([path, { parameters, ...methods }]) =>
		Object.entries(methods).map(([method, operation]: [string, Operation]) => {
			return { ...operation, parameters, method, path };
		}),
	);
}

// Not strict, because the document has keywords that JSON Schema lacks.
const ajv = new Ajv2020({ strict: false });
ajv.addSchema({ $id: 'openapi', ...document }, undefined, undefined, false);

/** Returns what is wrong with a value by a schema of the document, or nothing. */
export function judge(schema: object, value: unknown): string {
	const absolute = JSON.stringify(schema).replaceAll('"$ref":"#', '"$ref":"openapi#');
	const validate = ajv.compile(JSON.parse(absolute) as object);
	return validate(value) ? '' : ajv.errorsText(validate.errors);
}

/** Returns what is wrong with an answer to an operation, or nothing. */
export function judgeAnswer({ responses }: Operation, answer: globalThis.Response, text: string) {
	const response = responses[answer.status];
	if (response === undefined) return `HTTP ${answer.status} is not in the document`;
	const { content = {} } =
		document.components.responses[response.$ref?.split('/')[3] ?? ''] ?? response;
	const type = answer.headers.get('content-type')!.split(';')[0]!;
	const entry = content[type] ?? content['*/*'];
	if (entry === undefined) return `content type "${type}" is not in the document`;
	return entry.schema === undefined ? '' : judge(entry.schema, JSON.parse(text));
}
