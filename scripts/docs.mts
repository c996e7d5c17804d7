/** `npm run docs`: writes the generated tables of the README and of docs/errors.md, from the built nodes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';
import { projectRoot } from '../host/paths.mts';
import { table, writeBlock } from './blocks.mts';
import { builtNodes, requireBuilt } from './built.mts';

/** An operation in n8n's editor. */
export interface OfferedOperation {
	resource: string;
	name: string;
	/** Method and path, as in the partner API specification (§4). */
	request: string;
	description: string;
}

/** Returns all operations, in the editor's order. */
export function readOperations(): OfferedOperation[] {
	const { properties } = builtNodes().find(({ name }) => name === 'resumeManagement')!;
	const choices = (name: string, shownFor: Record<string, unknown> = {}) =>
		properties
			.filter((one) => one.name === name && isShown(one, shownFor))
			.flatMap(({ options }) => options as INodePropertyOptions[]);
	return choices('resource').flatMap((resource) =>
		choices('operation', { resource: resource.value }).map((operation) => {
			const { name, value, description = '', routing } = operation;
			// All methods, if the user chooses one.
			const methods = choices('method', { resource: resource.value, operation: value });
			const method = methods.map((one) => one.name).join(', ') || routing?.request?.method;
			const request = `${method} ${routing?.request?.url}`;
			return { resource: resource.name, name, request, description };
		}),
	);
}

function isShown({ displayOptions }: INodeProperties, chosen: Record<string, unknown>): boolean {
	const { show } = displayOptions ?? {};
	return Object.entries(chosen).every(([name, value]) => show?.[name]?.includes(value as never));
}

type Failures = Record<string, [message: string, description: string]>;

/** Returns the service's error codes by the IDs of their failures. */
function readCodes(): Map<string, string> {
	const document = readFileSync(join(projectRoot, 'openapi', 'partner-api.yaml'), 'utf8');
	const { judge } = requireBuilt('ResumeManagement/http/judge') as {
		judge(response: { statusCode: number; body: object }): unknown;
	};
	const idOf = (errorCode: string): string => {
		try {
			judge({ statusCode: 200, body: { status: 'error', errorCode } });
		} catch (failure) {
			return (failure as { id: string }).id;
		}
		throw new Error(`The error code ${errorCode} is no failure.`);
	};
	const codes = document.match(/\b(?:plan-upgrade|connect)-\d+\b/g) ?? [];
	return new Map(codes.map((code) => [idOf(code), code]));
}

/** Sentences of many descriptions, which docs/errors.md has once. */
const COMMON =
	/ *(?:If this keeps happening, (?:contact|ask) your account manager|Nothing was sent(?: for this item)?|To see the whole response, use Get Many with Simplify off, without Pagination|Nothing but the list was requested for this item)\./g;

/** Returns a text with `…` in place of its values, and without the brackets of what some writes leave out. */
const shown = (text: string) => text.replace(/(\{\w+\})+/g, '…').replace(/[[\]]/g, '');

/**
 * Returns the README's table of operations, and the tables of docs/errors.md: one for each first part of the failures'
 * IDs.
 */
export function generatedTables() {
	const operations = readOperations().map(({ resource, name, request, description }) => [
		resource,
		name,
		`\`${request}\``,
		description,
	]);
	const { FAILURES } = requireBuilt('shared/failures') as { FAILURES: Failures };
	const groups = Object.groupBy(Object.entries(FAILURES), ([id]) => id.split('.')[0]!);
	const codes = readCodes();
	const failures = Object.entries(groups).map(([group, found]) => {
		const documented = found!.filter(([, texts]) => shown(texts[0]) !== '…');
		const rows = documented.map(([id, texts]) => {
			const [message, description] = texts.map((text) => shown(text.replace(COMMON, '')));
			// Several failures have the service's message. The code tells them apart.
			const code = codes.has(id) ? ` ${codes.get(id)}` : '';
			return [`\`${message}${code}\``, description!, `\`${id}\``];
		});
		const content = table([['Message', 'What to do', 'ID'], ...rows]);
		return { page: 'docs/errors.md', block: `failures-${group}`, content };
	});
	const head = ['Resource', 'Operation', 'Request', 'What it does'];
	return [
		{ page: 'README.md', block: 'operations', content: table([head, ...operations]) },
		...failures,
	];
}

if (import.meta.main) {
	for (const { page, block, content } of generatedTables()) await writeBlock(page, block, content);
}
