import type { INodeParameters } from 'n8n-workflow';

import { SANDBOX_PLANS } from '../../sandbox/seed.mts';
import { byId, planUpgrade, userGet } from '../support/parameters.mts';
import { useSandbox } from '../support/service.mts';

const { credential, run, sent } = useSandbox();

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

const resume = { resource: 'resume', resumeId: byId('1') };
const queryParameters = { parameter: [{ name: '', value: 'x' }] };

test.each<[string, INodeParameters, string]>([
	['an empty ID', userGet('={{ "" }}'), "'User' is empty"],
	['a blank ID', userGet(' '), "'User' is empty"],
	['the ID .', userGet('.'), "'User' is not an ID"],
	['the ID ..', userGet('..'), "'User' is not an ID"],
	['an ID with a newline', userGet('u1\n'), "'User' is not an ID"],
	['half a surrogate pair', userGet('\ud800'), "'User' is not an ID"],
	[
		'an empty resume ID',
		{ ...resume, operation: 'getScore', resumeId: byId('={{ "" }}') },
		"'Resume' is empty",
	],
	[
		'an empty field for the file',
		{ ...resume, operation: 'download', binaryPropertyName: '={{ " " }}' },
		"'Put Output File in Field' is empty",
	],
	[
		'a query parameter without a name',
		{ ...userGet('1'), options: { queryParameters } },
		"'Query Parameters' has an entry without a name",
	],
	['an e-mail without @', upgrade({ email: 'nathan' }), "'Email' is not an e-mail address"],
	['an e-mail with two @', upgrade({ email: 'a@b@c' }), "'Email' is not an e-mail address"],
	['an empty e-mail', upgrade({ email: '  ' }), "'Email' is not an e-mail address"],
	['a blank plan ID', upgrade({ planId: ' ' }), "'Plan ID' is empty"],
	[
		'a body field without a name',
		create({ bodyFields: { field: [{ name: ' ', value: 'x' }] } }),
		"'Body Fields' has an entry without a name",
	],
])('%s is rejected before anything is sent', async (_, parameters, message) => {
	const { error } = await run(parameters);
	expect(error?.message).toBe(`${message} [item 0]`);
	expect(error?.description).toContain('Nothing was sent');
	expect(sent()).toEqual([]);
});

test('a rejected item leaves the others untouched under On Error = Continue', async () => {
	const { pairs, failures } = await run(userGet('={{ $json.id }}'), {
		items: [{ id: 'user-001' }, { id: '..' }, { id: 'user-002' }],
		node: { onError: 'continueErrorOutput' },
	});
	expect(pairs).toEqual([[0, 2], [1]]);
	expect(failures).toEqual([
		{
			message: "'User' is not an ID [item 1]",
			code: null,
			httpStatus: null,
			description: expect.stringContaining('Nothing was sent') as string,
			id: 'parameter.notAnId',
		},
	]);
	expect(sent()).toHaveLength(2);
});

test('an invalid item among upgrades stops the node before the first is billed', async () => {
	const { error } = await run(planUpgrade, {
		items: [
			{ email: 'nathan@example.com', planId: SANDBOX_PLANS.pro },
			{ email: 'nobody', planId: SANDBOX_PLANS.pro },
		],
	});
	expect(error?.message).toBe("'Email' is not an e-mail address [item 1]");
	expect(sent()).toEqual([]);
});

test('an expression that fails concerns its item alone', async () => {
	const { failures } = await run(userGet('={{ $json.id.missing.deep }}'), {
		items: [{ id: 'x' }, {}],
		node: { onError: 'continueRegularOutput' },
	});
	expect(failures).toHaveLength(2);
});

test.each<[string, object, string]>([
	['no version', { baseUrl: 'https://api.example.com' }, 'Base URL'],
	['an empty key', { privateKey: '' }, 'Private Key'],
	['a key with a line break', { privateKey: 'key\nX-Other: 1' }, 'Private Key'],
])('a credential with %s fails each item, not the node', async (_, data, field) => {
	const { failures } = await run(userGet('1'), {
		credential: { ...credential(), ...data },
		items: [{}, {}],
		node: { onError: 'continueErrorOutput' },
	});
	const message = `The credential's ${field} can't be used`;
	expect(failures).toMatchObject([{ message }, { message }]);
	expect(sent()).toEqual([]);
});
