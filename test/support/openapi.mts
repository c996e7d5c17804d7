import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import type { RecordedRequest } from '../../sandbox/server.mts';
import { read } from './files.mts';

interface Part {
	$ref?: string;
	content?: Record<string, { schema?: object }>;
}

interface Operation {
	operationId: string;
	requestBody?: Part;
	responses: Record<string, Part>;
}

interface OpenApi {
	paths: Record<string, { parameters: Part[] }>;
	components: Record<string, Record<string, Part>>;
}

export const document = parse(read('openapi/partner-api.yaml')) as OpenApi;

type Documented = ReturnType<typeof documentedOperations>[number];

export function documentedOperations() {
	return Object.entries(document.paths).flatMap(([path, { parameters, ...methods }]) =>
		Object.entries(methods as Record<string, Operation>).map(([name, operation]) => {
			const method = name.toUpperCase();
			return { ...operation, parameters, method, path, request: `${method} ${path}` };
		}),
	);
}

function resolve(part: Part): Part {
	const [, , group, name] = part.$ref?.split('/') ?? [];
	return document.components[group!]?.[name!] ?? part;
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

export function judgeRequest(operation: Documented, sent: RecordedRequest): string {
	const { path, request, requestBody } = operation;
	const pattern = RegExp(`^\\S+ /v1${path.replace(/\{\w+\}/g, '[^/?]+')}(\\?|$)`);
	const line = `${sent.method} ${sent.url}`;
	if (sent.method !== operation.method || !pattern.test(line)) return `${line} is not ${request}`;
	const { schema } = resolve(requestBody ?? {}).content?.['application/json'] ?? {};
	if (schema) return judge(schema, JSON.parse(sent.body));
	return sent.body && 'it has a body that is not in the document';
}

/** Returns what is wrong with a response to an operation, or nothing. */
export function judgeResponse(operation: Documented, { status, headers }: Response, text: string) {
	const { request, responses } = operation;
	if (text.includes('sandbox-unknown-address')) return `Add ${request} to sandbox/api.mts`;
	const response = resolve(responses[status] ?? {});
	if (!(status in responses)) return `Add HTTP ${status} to ${request} in openapi/partner-api.yaml`;
	const type = headers.get('content-type')!.split(';')[0]!;
	const entry = response.content?.[type] ?? response.content?.['*/*'];
	if (entry === undefined) return `content type "${type}" is not in the document`;
	return entry.schema === undefined ? '' : judge(entry.schema, JSON.parse(text));
}
