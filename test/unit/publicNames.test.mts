import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../host/paths.mts';
import { checkFrozenNames, frozenNamesFile, updateFrozenNames } from '../../scripts/freeze.mts';
import { findNarrowings } from '../../scripts/narrowings.mts';
import {
	readPublicNames,
	type Conditions,
	type NodeNames,
	type Parameter,
	type PublicNames,
} from '../../scripts/publicNames.mts';

const actionNode = 'n8n-nodes-resume-management.resumeManagement';
const triggerNode = 'n8n-nodes-resume-management.resumeManagementTrigger';

/** As the build has them: what is compared here is what n8n loads. */
const real = readPublicNames(projectRoot);

function changed(change: (names: PublicNames) => void): PublicNames {
	const names = copy(real);
	change(names);
	return names;
}

/** `structuredClone` makes objects of another realm under jest, which differ in their prototypes. */
function copy<Value>(value: Value): Value {
	return JSON.parse(JSON.stringify(value)) as Value;
}

function node(names: PublicNames, type = actionNode): NodeNames {
	return names.nodes[type]!;
}

function find(list: Parameter[] | undefined, name: string, show: Conditions = {}): Parameter {
	const found = list?.find(
		(one) =>
			one.name === name &&
			Object.entries(show).every(([key, [value]]) => one.show?.[key]?.includes(value!)),
	);
	if (found === undefined) throw new Error(`There is no ${name}`);
	return found;
}

const upgrade = { resource: ['plan'], operation: ['upgrade'] };

describe('the public names of this package', () => {
	it('are as promised, and frozen', async () => {
		await checkFrozenNames(projectRoot);
	});

	it('include every operation, parameter and credential field of the design', () => {
		const { parameters } = node(real);
		const operations = parameters
			.filter(({ name }) => name === 'operation')
			.flatMap(({ show, values }) => values!.map((value) => `${show!.resource!.join()}.${value}`));
		expect(operations).toEqual(
			expect.arrayContaining([
				'plan.upgrade',
				'resume.create',
				'resume.download',
				'resume.get',
				'resume.getAll',
				'resume.getScore',
				'user.get',
				'user.getAll',
				'user.getToken',
			]),
		);
		expect(find(parameters, 'planId')).toMatchObject({ type: 'string', required: true });
		expect(find(parameters, 'userId').modes).toEqual(['id', 'list']);
		const { fields } = find(parameters, 'options', { operation: ['getAll'] });
		expect(find(fields, 'retries')).toMatchObject({ default: 2, minValue: 0 });
		expect(find(fields, 'queryParameters').groups!.parameter!.map(({ name }) => name)).toEqual([
			'name',
			'value',
		]);
		expect(node(real, triggerNode).webhooks).toEqual(['POST webhook']);
		expect(real.credentials.resumeManagementApi!.map(({ name }) => name)).toEqual([
			'baseUrl',
			'privateKey',
			'webhookSecret',
		]);
	});
});

describe('a narrowing', () => {
	it('is none where nothing changed', () => {
		expect(findNarrowings(real, real)).toEqual([]);
	});

	it('is the removal of any name, value or case, wherever it stands', () => {
		const promises = removals(real).filter(({ promise }) => promise);
		expect(promises.length).toBeGreaterThan(200);
		for (const { title, without } of promises) {
			expect([title, findNarrowings(real, without()).length > 0]).toEqual([title, true]);
		}
	});

	it('is none where a restriction is lifted', () => {
		const restrictions = removals(real).filter(({ promise }) => !promise);
		expect(restrictions.length).toBeGreaterThan(50);
		for (const { title, without } of restrictions) {
			expect([title, findNarrowings(real, without())]).toEqual([title, []]);
		}
	});

	it('is any change of a type or a default', () => {
		const all = everyParameter(real);
		for (const index of all.keys()) {
			for (const change of [{ type: 'color' }, { default: 'another' }]) {
				const names = copy(real);
				const [title, parameter] = everyParameter(names)[index]!;
				Object.assign(parameter, change);
				const sentences = findNarrowings(real, names);
				expect([title, change, sentences.length > 0]).toEqual([title, change, true]);
			}
		}
	});

	it.each<[string, (names: PublicNames) => void, string]>([
		[
			'another default',
			(names) => {
				const { fields } = find(node(names).parameters, 'options', { operation: ['getScore'] });
				find(fields, 'retries').default = 3;
			},
			`${actionNode}: options: retries had the default 2, has 3 (version 1).`,
		],
		[
			'a parameter that is shown for fewer values',
			(names) => {
				find(node(names, triggerNode).parameters, 'signaturePrefix').show = {
					verification: ['none'],
				};
			},
			`${triggerNode}: signaturePrefix is not shown any more (version 1, verification hmac).`,
		],
		[
			'a parameter that is hidden in more cases',
			(names) => {
				find(node(names, triggerNode).parameters, 'events').hide = { verification: ['none'] };
			},
			`${triggerNode}: events is not shown any more (version 1).`,
		],
		[
			'a parameter that became required',
			(names) => {
				find(node(names).parameters, 'aiTokenId').required = true;
			},
			`${actionNode}: aiTokenId became required (version 1, operation upgrade, resource plan).`,
		],
		[
			'a new parameter that saved workflows lack',
			(names) => {
				node(names).parameters.push({
					name: 'currency',
					type: 'string',
					default: '',
					required: true,
					show: upgrade,
				});
			},
			`${actionNode}: currency is required where it was not there before (version 1, resource plan, operation upgrade).`,
		],
		[
			'a parameter that takes no expressions any more',
			(names) => {
				find(node(names).parameters, 'planId').noDataExpression = true;
			},
			`${actionNode}: planId takes no expression any more (version 1, operation upgrade, resource plan).`,
		],
		[
			'a higher minimum',
			(names) => {
				find(node(names).parameters, 'limit', { resource: ['user'] }).minValue = 2;
			},
			`${actionNode}: limit has a narrower minimum (version 1, operation getAll, resource user, returnAll false).`,
		],
		[
			'a new maximum',
			(names) => {
				find(node(names).parameters, 'limit', { resource: ['user'] }).maxValue = 100;
			},
			`${actionNode}: limit has a narrower maximum (version 1, operation getAll, resource user, returnAll false).`,
		],
		[
			'a list in place of one value',
			(names) => {
				find(node(names).parameters, 'planId').multipleValues = true;
			},
			`${actionNode}: planId holds a list (version 1, operation upgrade, resource plan).`,
		],
		[
			'a renamed value',
			(names) => {
				find(node(names, triggerNode).parameters, 'verification').values = [
					'hmac',
					'none',
					'secret',
				];
			},
			`${triggerNode}: verification: value header is gone (version 1).`,
		],
		[
			'a credential that is required in more cases',
			(names) => {
				node(names, triggerNode).credentials[0]!.show!.verification!.push('none');
			},
			`${triggerNode}: credential resumeManagementApi is required where it was not there before (version 1, verification none).`,
		],
		[
			'a required parameter that is shown in more cases',
			(names) => {
				delete find(node(names).parameters, 'userId', { operation: ['get'] }).show!.operation;
			},
			`${actionNode}: userId is required where it was not there before (version 1, resource user).`,
		],
		[
			'a renamed credential field',
			(names) => {
				find(names.credentials.resumeManagementApi, 'privateKey').name = 'apiKey';
			},
			'resumeManagementApi: privateKey is gone.',
		],
		[
			'a node that is no tool any more',
			(names) => {
				delete node(names).usableAsTool;
			},
			`${actionNode} is no longer a tool.`,
		],
		[
			'a webhook with another path',
			(names) => {
				node(names, triggerNode).webhooks = ['POST events'];
			},
			`${triggerNode}: webhook POST webhook is gone.`,
		],
	])('is %s', (_title, change, sentence) => {
		expect(findNarrowings(real, changed(change))).toContain(sentence);
	});

	it('is a field that the output has no more', () => {
		const frozen = changed((names) => (node(names).output = { 'v1.0.0/user/get': ['id', 'name'] }));
		const current = changed((names) => (node(names).output = { 'v1.0.0/user/get': ['id'] }));
		expect(findNarrowings(frozen, current)).toEqual([
			`${actionNode}: output of v1.0.0/user/get: field name is gone.`,
		]);
	});
});

describe('an addition', () => {
	it.each<[string, (names: PublicNames) => void]>([
		[
			'a node type and a credential type',
			(names) => {
				names.nodes.another = copy(node(names));
				names.credentials.another = [{ name: 'key', type: 'string', default: '', required: true }];
			},
		],
		[
			'an operation with required parameters',
			(names) => {
				const { parameters } = node(names);
				find(parameters, 'operation', { resource: ['user'] }).values!.push('delete');
				const show = { resource: ['user'], operation: ['delete'] };
				parameters.push({ ...find(parameters, 'userId'), show });
			},
		],
		[
			'an optional parameter, and a value and a mode of one',
			(names) => {
				const { parameters } = node(names);
				parameters.push({ name: 'note', type: 'string', default: '', show: upgrade });
				find(parameters, 'resource').values!.push('section');
				find(parameters, 'userId').modes!.push('url');
			},
		],
		[
			'a parameter whose default leaves the others shown',
			(names) => {
				const { parameters } = node(names);
				parameters.push({ name: 'paging', type: 'options', default: 'off', values: ['off', 'on'] });
				for (const limit of parameters.filter(({ name }) => name === 'limit')) {
					limit.show!.paging = ['off'];
					limit.hide = { paging: ['on'] };
				}
			},
		],
		[
			'a second version with parameters of its own',
			(names) => {
				const { versions, parameters } = node(names);
				versions.push(2);
				for (const email of parameters.filter(({ name }) => name === 'email')) {
					email.show!['@version'] = [1];
				}
				const show = { '@version': [2], ...upgrade };
				parameters.push({ name: 'address', type: 'string', default: '', required: true, show });
			},
		],
	])('is no narrowing: %s', (_title, change) => {
		expect(changed(change)).not.toEqual(real);
		expect(findNarrowings(real, changed(change))).toEqual([]);
	});

	it('is none where one declaration is split into two', () => {
		const split = changed((names) => {
			const { parameters } = node(names);
			const [first, ...others] = parameters.filter(({ name }) => name === 'limit');
			first!.show!.resource = ['resume', 'user'];
			node(names).parameters = parameters.filter((one) => !others.includes(one)).reverse();
		});
		expect(findNarrowings(split, real)).toEqual([]);
		expect(findNarrowings(real, split)).toEqual([]);
	});
});

describe('the file of promises', () => {
	let folder: string;
	const asItIs = async (json: string) => json;

	beforeEach(async () => {
		folder = await mkdtemp(join(tmpdir(), 'resume-management-names-'));
		await cp(join(projectRoot, 'package.json'), join(folder, 'package.json'));
		await symlink(join(projectRoot, 'dist'), join(folder, 'dist'));
		await mkdir(join(folder, 'contract'));
	});

	afterEach(async () => {
		await rm(folder, { recursive: true });
	});

	async function freeze(names: PublicNames): Promise<void> {
		await writeFile(join(folder, frozenNamesFile), JSON.stringify(names));
	}

	async function frozen(): Promise<PublicNames> {
		return JSON.parse(await readFile(join(folder, frozenNamesFile), 'utf8')) as PublicNames;
	}

	const less = changed((names) => node(names).parameters.shift());
	const more = changed((names) =>
		node(names).parameters.push({ name: 'note', type: 'string', default: '' }),
	);

	it('holds the fields of output schemas', async () => {
		await rm(join(folder, 'dist'));
		await cp(join(projectRoot, 'dist'), join(folder, 'dist'), { recursive: true });
		await symlink(join(projectRoot, 'node_modules'), join(folder, 'node_modules'));
		const schemas = join(folder, 'dist/nodes/ResumeManagementTrigger/__schema__/v1.0.0');
		await mkdir(schemas, { recursive: true });
		const user = { type: 'object', properties: { id: { type: 'string' } } };
		const schema = {
			type: 'object',
			properties: { users: { type: 'array', items: user }, user },
		};
		await writeFile(join(schemas, 'output.json'), JSON.stringify(schema));
		const { output } = node(readPublicNames(folder), triggerNode);
		expect(output?.['v1.0.0/output']).toEqual(['user', 'user.id', 'users', 'users[].id']);
	});

	it('is asked for where there is none, and written', async () => {
		await expect(checkFrozenNames(folder)).rejects.toThrow('run `npm run contract -- --update`');
		expect(await updateFrozenNames(folder, asItIs)).toBe(frozenNamesFile);
		expect(await frozen()).toEqual(real);
		await checkFrozenNames(folder);
		expect(await updateFrozenNames(folder, asItIs)).toBeUndefined();
	});

	it('is asked for where something was added, and written', async () => {
		await freeze(less);
		await expect(checkFrozenNames(folder)).rejects.toThrow('run `npm run contract -- --update`');
		await updateFrozenNames(folder, asItIs);
		expect(await frozen()).toEqual(real);
	});

	it('is not touched where something was removed', async () => {
		await freeze(more);
		const sentence =
			'Workflows that are saved today would break:\n' +
			`  ${actionNode}: note is gone.\n` +
			`Take these changes back, or give package.json a higher major version: ${real.majorVersion + 1}.0.0-0 until it is released.`;
		await expect(checkFrozenNames(folder)).rejects.toThrow(sentence);
		await expect(updateFrozenNames(folder, asItIs)).rejects.toThrow(sentence);
		expect(await frozen()).toEqual(more);
	});

	it('takes a removal with a new major version', async () => {
		const earlier = { ...more, majorVersion: real.majorVersion - 1 };
		await freeze(earlier);
		await expect(checkFrozenNames(folder)).rejects.toThrow('run `npm run contract -- --update`');
		await updateFrozenNames(folder, asItIs);
		expect(await frozen()).toEqual(real);
	});
});

interface Removal {
	title: string;
	/** What is taken away was promised; otherwise it was a restriction. */
	promise: boolean;
	without(): PublicNames;
}

type Path = Array<string | number>;

/** Everything that can be taken away from public names, one at a time. */
function removals(names: PublicNames): Removal[] {
	return entriesBelow(names).flatMap(([path, owner]) => {
		const promise = isPromise(path, owner);
		const without = () => {
			const clone = copy(names);
			const key = path.at(-1)!;
			const parent = path.slice(0, -1).reduce<object>(inside, clone);
			if (Array.isArray(parent)) parent.splice(Number(key), 1);
			else delete (parent as Record<string, unknown>)[key];
			return clone;
		};
		return promise === undefined ? [] : [{ title: path.join('.'), promise, without }];
	});
}

/** `undefined` where the removal is neither, or leaves something that no description can be. */
function isPromise(path: Path, owner: object): boolean | undefined {
	const [key, parent] = [path.at(-1)!, path.at(-2)];
	if (path.includes('hide') || key === 'hide') return false;
	if (typeof key === 'number') return true;
	if (['required', 'noDataExpression', 'minValue', 'maxValue'].includes(key)) return false;
	if (['values', 'modes', 'usableAsTool', 'multipleValues'].includes(key)) return true;
	// A parameter that is required may not be shown in more cases.
	if (parent === 'show') return 'required' in owner ? undefined : false;
	return ['nodes', 'credentials', 'groups'].includes(String(parent)) ? true : undefined;
}

/** The path of every entry, with the parameter or credential use that it belongs to. */
function entriesBelow(value: object, path: Path = [], owner: object = {}): Array<[Path, object]> {
	const holder = 'name' in value ? value : owner;
	return Object.entries(value).flatMap(([key, inner]: [string, unknown]): Array<[Path, object]> => {
		const here = [...path, Array.isArray(value) ? Number(key) : key];
		const below = typeof inner === 'object' && inner !== null ? inner : {};
		// A default is compared as a whole.
		if (key === 'default') return [];
		return [[here, holder], ...entriesBelow(below, here, holder)];
	});
}

function inside(value: object, key: string | number): object {
	return (value as Record<string | number, object>)[key]!;
}

function everyParameter(names: PublicNames): Array<[string, Parameter]> {
	return entriesBelow(names).flatMap(([path]): Array<[string, Parameter]> => {
		const value = path.reduce<object>(inside, names);
		const isParameter = typeof value === 'object' && 'type' in value && 'default' in value;
		return isParameter ? [[path.join('.'), value as Parameter]] : [];
	});
}
