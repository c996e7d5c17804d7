import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ICredentialType, INodeProperties, INodeTypeDescription } from 'n8n-workflow';
import { projectRoot } from '../../host/paths.mts';
import { readPublicNames } from '../../scripts/publicNames.mts';
import {
	checkSavedNames,
	findBroken,
	savedNamesFile,
	type SavedNames,
} from '../../scripts/savedNames.mts';

/** What workflows rely on: the public names that `contract/` holds. */

type Parts = { node: INodeTypeDescription; credential: ICredentialType; schema: object };

const field = (name: string, more: object = {}) =>
	({ name, type: 'string', default: '', ...more }) as INodeProperties;
const choice = (value: string) => ({ name: value, value });
const shown = (resource: string[], operation: string[], more: object = {}) => ({
	displayOptions: { show: { resource, operation, ...more } },
});
const upgrade = (more?: object) => shown(['plan'], ['upgrade'], more);

/** A package with one of each thing that can be promised. */
const parts = (): Parts => ({
	node: {
		name: 'demo',
		version: 1,
		inputs: ['main'],
		outputs: ['main'],
		usableAsTool: true,
		credentials: [{ name: 'demoApi', required: true, ...upgrade() }],
		webhooks: [{ name: 'default', httpMethod: 'POST', path: 'webhook' }],
		properties: [
			field('note', { type: 'notice' }),
			field('field', { default: 'data', required: true }),
			field('resource', {
				type: 'options',
				default: 'user',
				options: [choice('user'), choice('plan')],
			}),
			field('planId', { required: true, ...upgrade() }),
			field('aiTokenId', upgrade()),
			field('limit', {
				type: 'number',
				default: 50,
				noDataExpression: true,
				typeOptions: { minValue: 1 },
				displayOptions: {
					...shown(['user'], ['get', 'getAll']).displayOptions,
					hide: { returnAll: [true] },
				},
			}),
			field('userId', {
				type: 'resourceLocator',
				default: { mode: 'list', value: '' },
				modes: [{ name: 'list' }, { name: 'id' }],
			}),
			field('options', {
				type: 'collection',
				default: {},
				options: [
					field('retries', { type: 'number', default: 2 }),
					field('query', {
						type: 'fixedCollection',
						default: {},
						typeOptions: { multipleValues: true },
						options: [{ name: 'parameter', values: [field('key')] }],
					}),
				],
			}),
		],
	} as unknown as INodeTypeDescription,
	credential: {
		name: 'demoApi',
		properties: [field('privateKey', { required: true })],
	} as unknown as ICredentialType,
	schema: { type: 'object', properties: { user: { properties: { id: {} } }, list: { items: {} } } },
});

let root: string;
let before: string[];

beforeAll(async () => {
	root = await mkdtemp(join(tmpdir(), 'resume-management-names-'));
	before = await namesOf([]);
});

afterAll(async () => {
	await rm(root, { recursive: true });
});

/**
 * Changes what a path leads to: parts, or else the node's properties, and elements of lists by their names.
 * At `+` is a new element.
 */
function change(all: Parts, path: string, value: unknown): void {
	const keys = path.split('.');
	const last = keys.pop()!;
	const start = keys[0] !== undefined && keys[0] in all ? all : all.node.properties;
	const target = keys.reduce<unknown>((from, key) => {
		return Array.isArray(from) ? from.find(({ name }) => name === key) : (from as Fields)[key];
	}, start);
	if (last === '+') (target as unknown[]).push(value);
	else (target as Fields)[last] = value;
}
type Fields = Record<string, unknown>;
type Change = [path: string, value: unknown];

/** Builds the package with changes, and reads its names. */
async function namesOf(changes: Change[]): Promise<string[]> {
	const all = parts();
	for (const [path, value] of changes) change(all, path, value);
	// A folder of its own: what was loaded from one stays loaded.
	const folder = await mkdtemp(join(root, 'package-'));
	const n8n = { nodes: ['Demo.node.js'], credentials: ['DemoApi.credentials.js'] };
	const { node, credential, schema } = all;
	const code = (name: string, fields: object) =>
		`exports.${name} = class { constructor() { Object.assign(this, ${JSON.stringify(fields)}); } };`;
	await mkdir(join(folder, '__schema__/v1.0.0'), { recursive: true });
	for (const [file, text] of [
		['package.json', JSON.stringify({ name: 'n8n-nodes-demo', version: '1.0.0', n8n })],
		['Demo.node.js', code('Demo', { description: node })],
		['DemoApi.credentials.js', code('DemoApi', credential)],
		['__schema__/v1.0.0/get.json', JSON.stringify(schema)],
	] as const) {
		await writeFile(join(folder, file), text);
	}
	return readPublicNames(folder);
}

const PLAN = '(@version 1, operation "upgrade", resource "plan")';
const TOKEN = `aiTokenId ${PLAN}`;
const OPTIONS = 'options (@version 1):';
const limit = (operation: string) =>
	`limit (@version 1, operation "${operation}", resource "user", not {"returnAll":[true]})`;

describe('saved workflows break by', () => {
	it.each<[string, ...Change, gone: string]>([
		['a version less', 'node.version', 2, 'version 1'],
		['an output less', 'node.outputs', [], 'output 1 main'],
		['a node that is no tool', 'node.usableAsTool', undefined, 'is a tool'],
		['another path of a webhook', 'node.webhooks.default.path', 'x', 'webhook POST webhook'],
		['a credential less', 'node.credentials', [], `credential demoApi ${PLAN}: is taken`],
		['a renamed parameter', 'aiTokenId.name', 'tokenId', `${TOKEN}: type string`],
		['another type', 'aiTokenId.type', 'number', `${TOKEN}: type string`],
		['a list', 'aiTokenId.typeOptions', { multipleValues: true }, `${TOKEN}: type string`],
		['another default', 'options.options.retries.default', 3, `${OPTIONS} retries: default 2`],
		['a choice less', 'resource.options', [choice('user')], 'resource (@version 1): value "plan"'],
		['a mode less', 'userId.modes', [choice('list')], 'userId (@version 1): mode id'],
		['an option less', 'options.options', [], `${OPTIONS} query: parameter: key: type string`],
		[
			'a case less in which it is shown',
			'limit.displayOptions.show.operation',
			['get'],
			`${limit('getAll')}: default 50`,
		],
		[
			'a case more in which it is hidden',
			'userId.displayOptions',
			{ hide: { resource: ['plan'] } },
			'userId (@version 1): type resourceLocator',
		],
		['a higher minimum', 'limit.typeOptions.minValue', 2, `${limit('get')}: minimum 1`],
		['a maximum', 'limit.typeOptions.maxValue', 100, `${limit('get')}: maximum none`],
		['no expression', 'planId.noDataExpression', true, `planId ${PLAN}: takes an expression`],
		['a required default', 'resource.required', true, 'resource (@version 1): may be empty'],
		[
			'a field that the output has no more',
			'schema.properties.user',
			undefined,
			'output of v1.0.0/get: user.id',
		],
	])('%s', async (_, path, value, gone) => {
		const broken = findBroken(before, await namesOf([[path, value]]));
		expect(broken).toContain(`Gone: n8n-nodes-demo.demo: ${gone}`);
	});

	const required = { required: true };
	it.each<[string, ...Change, line: string]>([
		[
			'a renamed credential field',
			'credential.properties.privateKey.name',
			'apiKey',
			'Gone: demoApi: privateKey: type string',
		],
		[
			'a parameter that became required',
			'aiTokenId.required',
			true,
			`New: n8n-nodes-demo.demo: ${TOKEN}: must be filled in`,
		],
		[
			'a new parameter that they lack',
			'node.properties.+',
			field('currency', { ...required, ...upgrade() }),
			`New: n8n-nodes-demo.demo: currency ${PLAN}: must be filled in`,
		],
		[
			'a new credential field that they lack',
			'credential.properties.+',
			field('secret', required),
			'New: demoApi: secret: must be filled in',
		],
	])('%s', async (_, path, value, line) => {
		expect(findBroken(before, await namesOf([[path, value]]))).toContain(line);
	});
});

describe('saved workflows do not break by', () => {
	const showsLimit = (operation: string) => shown(['user'], [operation]).displayOptions.show;
	const other = parts().node.properties.find(({ name }) => name === 'limit')!;
	other.displayOptions!.show = showsLimit('get');
	it.each<[string, ...Change[]]>([
		['nothing'],
		['an output more', ['node.outputs.+', 'main']],
		['a choice more', ['resource.options.+', choice('resume')]],
		['a mode more', ['userId.modes.+', choice('url')]],
		['an optional parameter more', ['node.properties.+', field('another')]],
		['an option more', ['options.options.+', field('fileName')]],
		[
			'a required parameter of a new operation',
			['node.properties.+', field('userName', { required: true, ...shown(['user'], ['create']) })],
		],
		[
			'parameters that need not be filled in any more',
			['planId.required', undefined],
			['field.required', undefined],
		],
		['an expression that is taken', ['limit.noDataExpression', undefined]],
		['a case more in which it is shown', ['limit.displayOptions.show.operation.+', 'search']],
		[
			'one declaration for two cases as two',
			['limit.displayOptions.show', showsLimit('getAll')],
			['node.properties.+', other],
		],
		[
			'a second version with a parameter of its own',
			['node.version', [1, 2]],
			['node.properties.+', field('address', { required: true, ...upgrade({ '@version': [2] }) })],
		],
		['another note', ['note.name', 'notice']],
	])('%s', async (_, ...changes) => {
		expect(findBroken(before, await namesOf(changes))).toEqual([]);
	});
});

describe('the saved names', () => {
	let folder: string;

	beforeEach(async () => {
		folder = await mkdtemp(join(root, 'saved-'));
		await cp(join(projectRoot, 'package.json'), join(folder, 'package.json'));
		await symlink(join(projectRoot, 'dist'), join(folder, 'dist'));
		await mkdir(join(folder, 'contract'));
	});

	const names = readPublicNames(projectRoot);
	const note = 'n8n-nodes-resume-management.resumeManagement: note (@version 1): type string';

	async function save(saved: SavedNames): Promise<void> {
		await writeFile(join(folder, savedNamesFile), JSON.stringify(saved));
	}

	async function saved(): Promise<SavedNames> {
		return JSON.parse(await readFile(join(folder, savedNamesFile), 'utf8')) as SavedNames;
	}

	it('are those of the built package', async () => {
		expect(await checkSavedNames(projectRoot, false)).toBe('Every public name is as saved.');
	});

	it('are asked for where something was added, and written', async () => {
		await save({ majorVersion: 0, names: names.slice(1) });
		const hint = 'run `npm run contract -- --update`';
		await expect(checkSavedNames(folder, false)).rejects.toThrow(hint);
		expect(await checkSavedNames(folder, true)).toBe(`${savedNamesFile} is written.`);
		expect(await saved()).toEqual({ majorVersion: 0, names });
	});

	it('stay as they are where something was removed', async () => {
		const more = { majorVersion: 0, names: [...names, note] };
		await save(more);
		for (const update of [false, true]) {
			const sentence = `Workflows that are saved today would break:\n  Gone: ${note}\n`;
			await expect(checkSavedNames(folder, update)).rejects.toThrow(sentence);
		}
		expect(await saved()).toEqual(more);
	});

	it('lose names with a new major version', async () => {
		await save({ majorVersion: -1, names: [...names, note] });
		await checkSavedNames(folder, true);
		expect(await saved()).toEqual({ majorVersion: 0, names });
	});
});
