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
	/** The first sentence of the description that AI agents read, and whether it bills. */
	summary: string;
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
			const { name, value, action = '', description = '', routing } = operation;
			// All methods, if the user chooses one.
			const methods = choices('method', { resource: resource.value, operation: value });
			const method = methods.map((one) => one.name).join(', ') || routing?.request?.method;
			const request = `${method} ${routing?.request?.url}`;
			const [sentence] = description.split(/(?<=\.) /);
			const summary = action.includes('(bills)') ? `${sentence} **Bills.**` : sentence!;
			return { resource: resource.name, name, request, summary };
		}),
	);
}

function isShown({ displayOptions }: INodeProperties, chosen: Record<string, unknown>): boolean {
	const { show } = displayOptions ?? {};
	return Object.entries(chosen).every(([name, value]) => show?.[name]?.includes(value as never));
}

type Advice = string | { again: string };
type Texts = Record<string, [message: string, ...advice: Advice[]]>;

const { SETTING_FAILURES, REQUEST_FAILURES } = requireBuilt('shared/failures') as {
	SETTING_FAILURES: Texts;
	REQUEST_FAILURES: Texts;
};
const { Failure } = requireBuilt('shared/failure') as {
	Failure: new (id: string, values: object, facts: object) => Error & { description: string };
};

/** First parts of the IDs in docs/errors.md. The screen says enough about the others. */
const DOCUMENTED = ['service', 'write', 'key'];

/** Returns the service's error codes by the IDs of their failures. */
function readCodes(): Map<string, string> {
	const document = readFileSync(join(projectRoot, 'openapi', 'partner-api.yaml'), 'utf8');
	const { judge } = requireBuilt('ResumeManagement/http/judge') as {
		judge(response: { statusCode: number; headers: object; body: object }): unknown;
	};
	const idOf = (errorCode: string): string => {
		try {
			judge({ statusCode: 200, headers: {}, body: { status: 'error', errorCode } });
		} catch (failure) {
			return (failure as { id: string }).id;
		}
		throw new Error(`The error code ${errorCode} is no failure.`);
	};
	const codes = document.match(/\b(?:plan-upgrade|connect)-\d+\b/g) ?? [];
	return new Map([
		...codes.map((code) => [idOf(code), code] as const),
		['service.busy', '(HTTP 429, 502 to 504)'],
	]);
}

/** Sentences of many descriptions, which docs/errors.md has once. */
const COMMON =
	/ *(?:If this keeps happening, (?:contact|ask) your account manager|Nothing was sent(?: for this item)?)\./g;

/** Returns a text with `…` in place of its values. */
const shown = (text: string) => text.replace(COMMON, '').replace(/(\{\w+\})+/g, '…');

/** Returns the table of the failures. Brackets are around the advice that the node leaves out for an unknown outcome. */
function failureTable(): string {
	const codes = readCodes();
	const rows = Object.entries({ ...REQUEST_FAILURES, ...SETTING_FAILURES })
		.filter(([id]) => DOCUMENTED.includes(id.split('.')[0]!))
		.map(([id, [message, ...advice]]) => {
			// Several failures have the service's message. The code tells them apart.
			const code = codes.has(id) ? ` ${codes.get(id)}` : '';
			const sentences = advice.map((one) => (typeof one === 'string' ? one : `[${one.again}]`));
			return [`\`${shown(message)}${code}\``, shown(sentences.join(' ')), `\`${id}\``];
		});
	return table([['Message', 'What to do', 'ID'], ...rows]);
}

/** Returns an error as the node shows it for a write whose outcome is unknown. */
function unknownOutcome(): string {
	const lost = new Failure(
		'network.lost',
		{ host: 'the service' },
		{ outcome: 'unknown', isWrite: true },
	);
	return `> ${lost.message}. ${lost.description}`;
}

/** Returns the generated blocks of the README and of docs/errors.md. */
export function generatedBlocks() {
	const operations = readOperations().map(({ resource, name, request, summary }) => [
		resource,
		name,
		`\`${request}\``,
		summary,
	]);
	const head = ['Resource', 'Operation', 'Request', 'What it does'];
	return [
		{ page: 'README.md', block: 'operations', content: table([head, ...operations]) },
		{ page: 'docs/errors.md', block: 'failures', content: failureTable() },
		{ page: 'docs/errors.md', block: 'unknown', content: unknownOutcome() },
	];
}

if (import.meta.main) {
	for (const { page, block, content } of generatedBlocks()) await writeBlock(page, block, content);
}
