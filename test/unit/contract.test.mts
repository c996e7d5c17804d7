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

const upgrade = () => ({ resource: ['plan'], operation: ['upgrade'] });
const read = () => ({ resource: ['user'], operation: ['get', 'getAll'] });

/** A package with one of each thing that can be promised. */
const parts = (): Parts => ({
	node: {
		name: 'demo',
		version: 1,
		inputs: ['main'],
		outputs: ['main'],
		usableAsTool: true,
		credentials: [{ name: 'demoApi', required: true, displayOptions: { show: upgrade() } }],
		webhooks: [{ name: 'default', httpMethod: 'POST', path: 'webhook' }],
		properties: [
			{ name: 'note', type: 'notice', default: '' },
			{ name: 'field', type: 'string', default: 'data', required: true },
			{
				name: 'resource',
				type: 'options',
				default: 'user',
				options: [choice('user'), choice('plan')],
			},
			{
				name: 'planId',
				type: 'string',
				default: '',
				required: true,
				displayOptions: { show: upgrade() },
			},
			{ name: 'aiTokenId', type: 'string', default: '', displayOptions: { show: upgrade() } },
			{
				name: 'limit',
				type: 'number',
				default: 50,
				noDataExpression: true,
				typeOptions: { minValue: 1 },
				displayOptions: { show: read(), hide: { returnAll: [true] } },
			},
			{
				name: 'userId',
				type: 'resourceLocator',
				default: { mode: 'list', value: '' },
				modes: [{ name: 'list' }, { name: 'id' }],
			},
			{
				name: 'options',
				type: 'collection',
				default: {},
				options: [
					{ name: 'retries', type: 'number', default: 2 },
					{
						name: 'query',
						type: 'fixedCollection',
						default: {},
						typeOptions: { multipleValues: true },
						options: [
							{ name: 'parameter', values: [{ name: 'key', type: 'string', default: '' }] },
						],
					},
				],
			},
		],
	} as unknown as INodeTypeDescription,
	credential: {
		name: 'demoApi',
		properties: [{ name: 'privateKey', type: 'string', default: '', required: true }],
	} as unknown as ICredentialType,
	schema: { type: 'object', properties: { user: { properties: { id: {} } }, list: { items: {} } } },
});

function choice(value: string) {
	return { name: value, value };
}

let root: string;
let before: string[];

beforeAll(async () => {
	root = await mkdtemp(join(tmpdir(), 'resume-management-names-'));
	before = await namesOf(() => {});
});

afterAll(async () => {
	await rm(root, { recursive: true });
});

/** Builds the package with a change, and reads its names. */
async function namesOf(change: (parts: Parts) => void): Promise<string[]> {
	const all = parts();
	change(all);
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

function parameter({ node }: Parts, name: string): INodeProperties {
	return node.properties.find((one) => one.name === name)!;
}

const optional = (name: string, more: Partial<INodeProperties> = {}) =>
	({ name, type: 'string', default: '', ...more }) as INodeProperties;

describe('saved workflows break by', () => {
	it.each<[string, (parts: Parts) => void, string]>([
		['a version less', ({ node }) => (node.version = 2), 'Gone: n8n-nodes-demo.demo: version 1'],
		[
			'an output less',
			({ node }) => (node.outputs = []),
			'Gone: n8n-nodes-demo.demo: output 1 main',
		],
		[
			'a node that is no tool',
			({ node }) => delete node.usableAsTool,
			'Gone: n8n-nodes-demo.demo: is a tool',
		],
		[
			'a webhook with another path',
			({ node }) => (node.webhooks![0]!.path = 'events'),
			'Gone: n8n-nodes-demo.demo: webhook POST webhook',
		],
		[
			'a credential that is not taken',
			({ node }) => (node.credentials = []),
			'Gone: n8n-nodes-demo.demo: credential demoApi (@version 1, operation "upgrade", resource "plan"): is taken',
		],
		['a renamed node', ({ node }) => (node.name = 'other'), 'Gone: n8n-nodes-demo.demo: version 1'],
		[
			'a renamed parameter',
			(all) => (parameter(all, 'aiTokenId').name = 'tokenId'),
			'Gone: n8n-nodes-demo.demo: aiTokenId (@version 1, operation "upgrade", resource "plan"): type string',
		],
		[
			'a renamed credential field',
			({ credential }) => (credential.properties[0]!.name = 'apiKey'),
			'Gone: demoApi: privateKey: type string',
		],
		[
			'another type',
			(all) => (parameter(all, 'aiTokenId').type = 'number'),
			'Gone: n8n-nodes-demo.demo: aiTokenId (@version 1, operation "upgrade", resource "plan"): type string',
		],
		[
			'a list in place of one value',
			(all) => (parameter(all, 'aiTokenId').typeOptions = { multipleValues: true }),
			'Gone: n8n-nodes-demo.demo: aiTokenId (@version 1, operation "upgrade", resource "plan"): type string',
		],
		[
			'another default',
			(all) => ((parameter(all, 'options').options![0] as INodeProperties).default = 3),
			'Gone: n8n-nodes-demo.demo: options (@version 1): retries: default 2',
		],
		[
			'a choice less',
			(all) => parameter(all, 'resource').options!.pop(),
			'Gone: n8n-nodes-demo.demo: resource (@version 1): value "plan"',
		],
		[
			'a mode less',
			(all) => parameter(all, 'userId').modes!.pop(),
			'Gone: n8n-nodes-demo.demo: userId (@version 1): mode id',
		],
		[
			'a member of a collection less',
			(all) => parameter(all, 'options').options!.pop(),
			'Gone: n8n-nodes-demo.demo: options (@version 1): query: parameter: key: type string',
		],
		[
			'a case less in which it is shown',
			(all) => parameter(all, 'limit').displayOptions!.show!.operation!.pop(),
			'Gone: n8n-nodes-demo.demo: limit (@version 1, operation "getAll", resource "user", not {"returnAll":[true]}): default 50',
		],
		[
			'a case more in which it is hidden',
			(all) => (parameter(all, 'userId').displayOptions = { hide: { resource: ['plan'] } }),
			'Gone: n8n-nodes-demo.demo: userId (@version 1): type resourceLocator',
		],
		[
			'a higher minimum',
			(all) => (parameter(all, 'limit').typeOptions!.minValue = 2),
			'Gone: n8n-nodes-demo.demo: limit (@version 1, operation "get", resource "user", not {"returnAll":[true]}): minimum 1',
		],
		[
			'a maximum',
			(all) => (parameter(all, 'limit').typeOptions!.maxValue = 100),
			'Gone: n8n-nodes-demo.demo: limit (@version 1, operation "get", resource "user", not {"returnAll":[true]}): maximum none',
		],
		[
			'an expression that is not taken any more',
			(all) => (parameter(all, 'planId').noDataExpression = true),
			'Gone: n8n-nodes-demo.demo: planId (@version 1, operation "upgrade", resource "plan"): takes an expression',
		],
		[
			'a parameter that became required',
			(all) => (parameter(all, 'aiTokenId').required = true),
			'New: n8n-nodes-demo.demo: aiTokenId (@version 1, operation "upgrade", resource "plan"): must be filled in',
		],
		[
			'one that became required where it has a default',
			(all) => (parameter(all, 'resource').required = true),
			'Gone: n8n-nodes-demo.demo: resource (@version 1): may be empty',
		],
		[
			'a new parameter that they lack',
			({ node }) =>
				node.properties.push(
					optional('currency', { required: true, displayOptions: { show: upgrade() } }),
				),
			'New: n8n-nodes-demo.demo: currency (@version 1, operation "upgrade", resource "plan"): must be filled in',
		],
		[
			'a new credential field that they lack',
			({ credential }) => credential.properties.push(optional('secret', { required: true })),
			'New: demoApi: secret: must be filled in',
		],
		[
			'a field that the output has no more',
			(all) => (all.schema = { properties: { list: { items: {} } } }),
			'Gone: n8n-nodes-demo.demo: output of v1.0.0/get: user.id',
		],
	])('%s', async (_title, change, line) => {
		expect(findBroken(before, await namesOf(change))).toContain(line);
	});
});

describe('saved workflows do not break by', () => {
	it.each<[string, (parts: Parts) => void]>([
		['nothing', () => {}],
		['an output more', ({ node }) => (node.outputs as string[]).push('main')],
		[
			'a choice and a mode more',
			(all) => {
				parameter(all, 'resource').options!.push(choice('resume'));
				parameter(all, 'userId').modes!.push({ name: 'url' } as never);
			},
		],
		['an optional parameter more', ({ node }) => node.properties.push(optional('note'))],
		[
			'a member of a collection more',
			(all) => (parameter(all, 'options').options as INodeProperties[]).push(optional('fileName')),
		],
		[
			'a required parameter of a new operation',
			({ node }) =>
				node.properties.push(
					optional('userName', {
						required: true,
						displayOptions: { show: { resource: ['user'], operation: ['create'] } },
					}),
				),
		],
		[
			'a parameter that need not be filled in any more',
			(all) => {
				delete parameter(all, 'planId').required;
				delete parameter(all, 'field').required;
			},
		],
		['an expression that is taken', (all) => delete parameter(all, 'limit').noDataExpression],
		[
			'a case more in which it is shown',
			(all) => parameter(all, 'limit').displayOptions!.show!.operation!.push('search'),
		],
		[
			'one declaration for two cases as two',
			({ node }) => {
				const limit = node.properties.find(({ name }) => name === 'limit')!;
				const other = structuredClone(limit);
				limit.displayOptions!.show!.operation = ['getAll'];
				other.displayOptions!.show!.operation = ['get'];
				node.properties.push(other);
			},
		],
		[
			'a second version with a parameter of its own',
			({ node }) => {
				node.version = [1, 2];
				const show = { '@version': [2], ...upgrade() };
				node.properties.push(optional('address', { required: true, displayOptions: { show } }));
			},
		],
		['another note', ({ node }) => node.properties.shift()],
	])('%s', async (_title, change) => {
		expect(findBroken(before, await namesOf(change))).toEqual([]);
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
