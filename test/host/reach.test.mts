import type { IDataObject, INodeParameters } from 'n8n-workflow';

import type { Execution } from '../../host/rest.mts';
import { SANDBOX_KEYS, SANDBOX_PLANS } from '../../sandbox/seed.mts';
import {
	outputOf,
	startEmptyInstance,
	startMilliseconds,
	type EmptyInstance,
} from './instance.mts';

/** Users by e-mail, custom requests, previews and fewer fields in a real n8n, with its database. */

const type = 'n8n-nodes-resume-management.resumeManagement';
const { pro } = SANDBOX_PLANS;
const EMMA = 'emma.larsen@example.com';
const NOAH = 'noah.fischer@example.com';

let instance: EmptyInstance;
beforeAll(async () => {
	instance = await startEmptyInstance();
}, startMilliseconds);
afterAll(async () => {
	await instance?.close();
}, 60_000);
afterEach(() => instance.sandbox.faults.clear());

const run = async (parameters: INodeParameters, items: IDataObject[] = [{}]): Promise<Execution> =>
	await instance.runNode({
		type,
		parameters,
		credentials: await instance.addCredential(),
		onError: 'continueRegularOutput',
		items,
	});
const records = (execution: Execution) => outputOf(execution).map(({ json }) => json);
const messages = (execution: Execution) =>
	records(execution).map(({ error }) => (error as { message: string } | undefined)?.message);

/** Requests that arrive while something is done. */
async function arrivals(action: () => Promise<unknown>): Promise<string[]> {
	const before = instance.sandbox.requests.length;
	await action();
	const { requests } = instance.sandbox;
	return requests.slice(before).map(({ method, url }) => `${method} ${url}`);
}

const byEmail = { __rl: true, mode: 'email', value: '={{ $json.email }}' };

it('finds users by e-mail in one list', async () => {
	const parameters = { resource: 'user', operation: 'get', userId: byEmail };
	const emails = [EMMA.toUpperCase(), 'nobody@example.com', NOAH];
	let execution: Execution | undefined;
	const arrived = await arrivals(async () => {
		const items = emails.map((email) => ({ email }));
		const options = { fieldsToReturn: 'email, unknown' };
		execution = await run({ ...parameters, options }, items);
	});
	expect(arrived.filter((request) => request === 'GET /v1/users')).toHaveLength(1);
	expect(arrived).toHaveLength(3);
	expect(records(execution!)).toEqual([
		{ email: EMMA },
		{ error: expect.objectContaining({ message: 'No user has this e-mail address' }) as unknown },
		{ email: NOAH },
	]);
	expect(execution!.storedData).not.toContain(SANDBOX_KEYS.live);
});

it('reads the list as the options say, which are there for By Email alone', async () => {
	const options = {
		usersPath: 'data',
		usersPagination: { pagination: { parameterName: 'page', sizeParameterName: 'limit' } },
	};
	const parameters = { resource: 'user', operation: 'get', options };
	const email = await arrivals(async () => {
		await run({ ...parameters, userId: byEmail }, [{ email: EMMA }]);
	});
	expect(email[0]).toBe('GET /v1/users?limit=100&page=1');
	const id = { __rl: true, mode: 'id', value: 'user-001' };
	expect(await arrivals(async () => await run({ ...parameters, userId: id }))).toEqual([
		'GET /v1/user/user-001',
	]);
});

it('claims no key for a user that is not found', async () => {
	const execution = await run(
		{
			resource: 'resume',
			operation: 'create',
			userId: byEmail,
			bodyFields: { field: [{ name: 'title', value: 'A resume' }] },
			sendOnceKey: 'a-key',
		},
		[{ email: 'nobody@example.com' }, { email: EMMA }],
	);
	expect(messages(execution)[0]).toBe('No user has this e-mail address');
	expect(records(execution)[1]).toMatchObject({ userId: 'user-001', title: 'A resume' });
});

it('sends a custom request once for a key, a method and a path', async () => {
	const parameters = {
		resource: 'customRequest',
		operation: 'send',
		path: '={{ $json.path }}',
		bodyFields: { field: [{ name: 'email', value: EMMA }] },
		sendOnceKey: 'a-key',
	};
	const arrived = await arrivals(async () => {
		const paths = ['/connect', 'connect', 'user/token'].map((path) => ({ path }));
		expect(records(await run(parameters, paths))).toEqual([
			{ token: expect.any(String) as string },
			{ alreadySent: true, outcome: 'succeeded', sendOnceKey: 'a-key' },
			{ token: expect.any(String) as string },
		]);
	});
	expect(arrived).toEqual(['POST /v1/connect', 'POST /v1/user/token']);
});

describe('the same upgrade in two items', () => {
	const upgrade = {
		resource: 'plan',
		operation: 'upgrade',
		email: '={{ $json.email }}',
		planId: pro,
	};
	const items = [{ email: NOAH }, { email: ` ${NOAH.toUpperCase()}` }];

	it('is previewed without a request', async () => {
		const arrived = await arrivals(async () => {
			const [preview] = records(await run({ ...upgrade, preview: true }, items));
			expect(preview).toEqual({
				preview: true,
				method: 'POST',
				path: '/plan/upgrade',
				body: { planId: pro, email: NOAH },
			});
		});
		expect(arrived).toEqual([]);
	});

	it('is sent for the first', async () => {
		const arrived = await arrivals(async () => {
			expect(messages(await run(upgrade, items))).toEqual([
				undefined,
				'Item 0 is for the same upgrade, so this one was not sent [item 1]',
			]);
		});
		expect(arrived).toEqual(['POST /v1/plan/upgrade']);
	});

	it('is sent for both where each has a Send Once Key of its own', async () => {
		const arrived = await arrivals(async () => {
			const keyed = { ...upgrade, sendOnceKey: '=purchase-{{ $itemIndex }}' };
			expect(messages(await run(keyed, items))).toEqual([undefined, undefined]);
		});
		expect(arrived).toHaveLength(2);
	});
});

it("n8n's Custom API Call points to Custom Request", async () => {
	const execution = await instance.runNode({
		type,
		parameters: { resource: 'user', operation: '__CUSTOM_API_CALL__' },
		credentials: await instance.addCredential(),
	});
	expect(execution.data.resultData.error!.description).toContain('Custom Request');
});
