import type { INodeParameters } from 'n8n-workflow';

import { type Sandbox, startSandbox } from '../../sandbox/server.mts';
import { SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { runNode } from '../support/engine.mts';
import { byId, planUpgrade, userGet } from '../support/parameters.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await startSandbox({ port: 0, record: true });
});
beforeEach(() => {
	sandbox.requests.length = 0;
});
afterAll(() => sandbox.close());

const credential = () => ({ baseUrl: sandbox.baseUrl, privateKey: SANDBOX_KEYS.live });
const run = (parameters: INodeParameters, rest = {}) =>
	runNode({ parameters, credential: credential(), ...rest });

const create = (body: INodeParameters) => ({
	resource: 'resume',
	operation: 'create',
	userId: byId('1'),
	...body,
});
const upgrade = (fields: INodeParameters) => ({
	...planUpgrade,
	email: 'nathan@example.com',
	planId: SANDBOX_PLANS.pro,
	...fields,
});

const rejected: Array<[string, INodeParameters, string]> = [
	['an empty ID', userGet('={{ "" }}'), "'User' is empty"],
	['a blank ID', userGet(' '), "'User' is empty"],
	['the ID .', userGet('.'), "'User' is not an ID"],
	['the ID ..', userGet('..'), "'User' is not an ID"],
	['an ID with a newline', userGet('u1\n'), "'User' is not an ID"],
	['half a surrogate pair', userGet('\ud800'), "'User' is not an ID"],
	[
		'an empty resume ID',
		{ resource: 'resume', operation: 'getScore', resumeId: byId('={{ "" }}') },
		"'Resume' is empty",
	],
	[
		'an empty field for the file',
		{
			resource: 'resume',
			operation: 'download',
			resumeId: byId('1'),
			binaryPropertyName: '={{ " " }}',
		},
		"'Put Output File in Field' is empty",
	],
	[
		'a query parameter without a name',
		{
			...userGet('1'),
			options: { queryParameters: { parameter: [{ name: '', value: 'x' }] } },
		},
		"'Query Parameters' has an entry without a name",
	],
	['an e-mail without @', upgrade({ email: 'nathan' }), "'Email' is not an e-mail address"],
	['an e-mail with two @', upgrade({ email: 'a@b@c' }), "'Email' is not an e-mail address"],
	['an empty e-mail', upgrade({ email: '  ' }), "'Email' is not an e-mail address"],
	['a blank plan ID', upgrade({ planId: ' ' }), "'Plan ID' is empty"],
	[
		'a JSON body that is an array',
		create({ specifyBody: 'json', jsonBody: '[1]' }),
		"'JSON Body' is not a JSON object",
	],
	[
		'a JSON body that does not parse',
		create({ specifyBody: 'json', jsonBody: '{"title": ' }),
		"'JSON Body' is not a JSON object",
	],
	[
		'a JSON body that is null',
		create({ specifyBody: 'json', jsonBody: '={{ null }}' }),
		"'JSON Body' is not a JSON object",
	],
	[
		'a body field without a name',
		create({ bodyFields: { field: [{ name: ' ', value: 'x' }] } }),
		"'Body Fields' has an entry without a name",
	],
];

test.each(rejected)('%s is rejected before anything is sent', async (_, parameters, message) => {
	const { error } = await run(parameters);
	expect(error?.message).toBe(`${message} [item 0]`);
	expect(error?.description).toContain('Nothing was sent');
	expect(sandbox.requests).toEqual([]);
});

test('a rejected item leaves the others untouched under On Error = Continue', async () => {
	const { outputs } = await run(userGet('={{ $json.id }}'), {
		items: [{ id: userIds()[0] }, { id: '..' }, { id: userIds()[1] }],
		node: { onError: 'continueErrorOutput' },
	});
	expect(outputs[0]!.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 2 }]);
	expect(outputs[1]).toEqual([
		{
			json: {
				id: '..',
				error: {
					message: "'User' is not an ID [item 1]",
					code: null,
					httpStatus: null,
					description: expect.stringContaining('Nothing was sent') as string,
				},
			},
			pairedItem: { item: 1 },
		},
	]);
	expect(sandbox.requests).toHaveLength(2);
});

test('an invalid item among upgrades stops the node before the first is billed', async () => {
	const { error } = await run(planUpgrade, {
		items: [
			{ email: 'nathan@example.com', planId: SANDBOX_PLANS.pro },
			{ email: 'nobody', planId: SANDBOX_PLANS.pro },
		],
	});
	expect(error?.message).toBe("'Email' is not an e-mail address [item 1]");
	expect(sandbox.requests).toEqual([]);
});

test('an expression that fails concerns its item alone', async () => {
	const { outputs } = await run(userGet('={{ $json.id.missing.deep }}'), {
		items: [{ id: 'x' }, {}],
		node: { onError: 'continueRegularOutput' },
	});
	expect(outputs[0]).toHaveLength(2);
	expect(outputs[0]!.every(({ json }) => json.error)).toBe(true);
});

const credentials: Array<[string, object, string]> = [
	['no version', { baseUrl: 'https://api.example.com' }, 'Base URL'],
	['plain http to another host', { baseUrl: 'http://api.example.com/v1' }, 'Base URL'],
	['a user name in the URL', { baseUrl: 'https://user:pass@api.example.com/v1' }, 'Base URL'],
	['a query', { baseUrl: 'https://api.example.com/v1?x=/v1' }, 'Base URL'],
	['an empty key', { privateKey: '' }, 'Private Key'],
	['a key with a line break', { privateKey: 'key\nX-Other: 1' }, 'Private Key'],
];

test.each(credentials)(
	'a credential with %s fails each item, not the node',
	async (_, data, field) => {
		const { outputs } = await runNode({
			parameters: userGet('1'),
			credential: { ...credential(), ...data },
			items: [{}, {}],
			node: { onError: 'continueErrorOutput' },
		});
		expect(outputs[0]).toEqual([]);
		expect(outputs[1]!.map(({ json }) => json.error)).toEqual(
			Array(2).fill(
				expect.objectContaining({ message: `The credential's ${field} can't be used` }),
			),
		);
		expect(sandbox.requests).toEqual([]);
	},
);

function userIds(): string[] {
	return (sandbox.database.prepare('SELECT id FROM users LIMIT 2').all() as { id: string }[]).map(
		({ id }) => String(id),
	);
}
