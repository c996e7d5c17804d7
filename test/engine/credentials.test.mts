import type { ICredentialDataDecryptedObject, INodeParameters } from 'n8n-workflow';

import { TestCredentials } from '../support/engine.mts';
import { planUpgrade, userGet } from '../support/parameters.mts';
import { useRawService } from '../support/service.mts';

/** The credential is read once a run where it is proved to be the same for each item, and else for each item. */

const { credential, requests, run } = useRawService(() => SUCCESS);
const SUCCESS = { status: 'success', data: { plan_id: 'pro' } };

const ITEMS = ['a', 'b', 'c'].map((id, index) => ({
	id,
	email: `${id}@example.com`,
	planId: 'pro',
	key: `private-key-${index}`,
	address: `account-${index}`,
}));

interface Case {
	data: () => ICredentialDataDecryptedObject;
	/** Reads of the credential for three items; the first is for the proof. */
	reads: number;
	/** The key of each item's request. */
	keys?: string[];
	/** What the credential's helper does that n8n's does not today. */
	helper?: Partial<TestCredentials>;
}

const own = ITEMS.map(({ key }) => key);

const byExpression = (privateKey: string): Case => ({
	data: () => ({ ...plain(), privateKey }),
	reads: 4,
	keys: own,
});

const plain = () => ({ ...credential(), privateKey: 'private-key' });

const { getDecrypted } = TestCredentials.prototype;

const CASES: Record<string, Case> = {
	'no expression': { data: plain, reads: 1 },
	$json: byExpression('={{ $json.key }}'),
	$itemIndex: byExpression('=private-key-{{ $itemIndex }}'),
	'$input.item': byExpression('={{ $input.item.json.key }}'),
	'$("Node").item': byExpression('={{ $("Source").item.json.key }}'),
	'a base URL by item': {
		data: () => ({
			...plain(),
			baseUrl: `=${credential().baseUrl.replace('/v1', '/{{ $json.address }}/v1')}`,
		}),
		reads: 4,
	},
	'an expression in a field that is not used': {
		data: () => ({ ...plain(), webhookSecret: '={{ $json.key }}' }),
		reads: 4,
	},
	'an expression in a nested value': {
		data: () => ({ ...plain(), extra: { list: ['={{ $json.key }}'] } }) as never,
		reads: 4,
	},
	'a text that only looks like an expression': {
		data: () => ({ ...plain(), webhookSecret: '=' }),
		reads: 4,
	},
	'a resolver that changes it after the call': {
		data: plain,
		reads: 4,
		keys: Array<string>(3).fill('private-key-resolved'),
		helper: {
			async getDecrypted(...values: Parameters<typeof getDecrypted>) {
				const data = await getDecrypted.apply(this as TestCredentials, values);
				return { ...data, privateKey: 'private-key-resolved' };
			},
		},
	},
	'two calls': {
		data: plain,
		reads: 4,
		helper: {
			async getDecrypted(...values: Parameters<typeof getDecrypted>) {
				const { expression } = values[6]!.workflow;
				expression.getParameterValue('x', null, 0, 0, 'Source', [], 'manual', {});
				return await getDecrypted.apply(this as TestCredentials, values);
			},
		},
	},
	'no call': {
		data: plain,
		reads: 4,
		helper: {
			async getDecrypted(this: TestCredentials) {
				this.reads++;
				return plain();
			},
		},
	},
	'another method of the expression': {
		data: plain,
		reads: 4,
		helper: {
			async getDecrypted(...values: Parameters<typeof getDecrypted>) {
				(this as TestCredentials).reads++;
				const { workflow, node } = values[6]!;
				workflow.expression.getSimpleParameterValue(node, 'x', 'manual', {});
				return plain();
			},
		},
	},
};

describe.each<[string, INodeParameters]>([
	['reads', userGet('={{ $json.id }}')],
	['writes', planUpgrade],
])('%s', (_, parameters) => {
	describe.each(['stopWorkflow', 'continueErrorOutput'] as const)('under %s', (onError) => {
		test.each(Object.entries(CASES))('%s', async (__, { data, reads, keys, helper }) => {
			const { error, credentialReads } = await run(parameters, {
				credential: data(),
				items: ITEMS,
				node: { onError },
				credentialHelper: helper,
			});
			expect(error).toBeUndefined();
			expect(credentialReads).toBe(reads);
			const sent = requests.map(({ headers }) => headers.authentication);
			const expected = keys ?? ITEMS.map(() => 'private-key');
			expect(sent.sort()).toEqual(expected.map((key) => `Bearer ${key}`));
		});
	});
});

test('a read that fails is made again for each item', async () => {
	const { outputs } = await run(userGet('={{ $json.id }}'), {
		items: ITEMS,
		node: { onError: 'continueErrorOutput' },
		failingCredentialReads: [0, 2],
	});
	expect(outputs.map(({ length }) => length)).toEqual([2, 1]);
});
