import type { ICredentialDataDecryptedObject, INodeParameters } from 'n8n-workflow';

import { TestCredentials } from '../support/engine.mts';
import { planUpgrade, userGet } from '../support/parameters.mts';
import { useRawService } from '../support/service.mts';

/** The credential is read once a run where it is proved to be the same for each item, and else for each item. */

const { credential, requests, run } = useRawService(() => SUCCESS);
const SUCCESS = { status: 'success', data: { plan_id: 'pro' } };

/** An expression after its first character, which gives the whole of it. */
const SELF = '{{ "=" + $json.self }}';
const ITEMS = ['a', 'b', 'c'].map((id, index) => ({
	...{ id, email: `${id}@example.com`, planId: 'pro' },
	...{ key: `private-key-${index}`, self: SELF },
}));
const [OWN, ONE, RESOLVED] = [
	ITEMS.map(({ key }) => key),
	ITEMS.map(() => 'private-key'),
	ITEMS.map(() => 'private-key-resolved'),
];

const plain = () => ({ ...credential(), privateKey: 'private-key' });
const { getDecrypted } = TestCredentials.prototype;
type Values = Parameters<typeof getDecrypted>;
/** What a credential's helper may do that n8n's does not today. */
const helpers: Record<string, (this: TestCredentials, ...values: Values) => Promise<object>> = {
	async 'changes it after the call'(...values) {
		return { ...(await getDecrypted.apply(this, values)), privateKey: RESOLVED[0] };
	},
	async 'makes two calls'(...values) {
		const { expression } = values[6]!.workflow;
		expression.getParameterValue('x', null, 0, 0, 'Source', [], 'manual', {});
		return await getDecrypted.apply(this, values);
	},
	async 'makes no call'() {
		this.reads++;
		return plain();
	},
};

/** Reads for three items are 1, or else 4: the first is for the proof. */
type Case = [string, data: () => object, reads: number, keys: string[]];
const CASES: Case[] = [
	['no expression', () => ({}), 1, ONE],
	['$json', () => ({ privateKey: '={{ $json.key }}' }), 4, OWN],
	['an expression that gives itself', () => ({ extra: { list: [`=${SELF}`] } }), 4, ONE],
	...Object.keys(helpers).map((name): Case => {
		return [name, () => ({}), 4, name.startsWith('changes') ? RESOLVED : ONE];
	}),
];

test.each(CASES)('%s', async (name, data, reads, keys) => {
	const options: Array<[INodeParameters, 'stopWorkflow' | 'continueErrorOutput']> = [
		[userGet('={{ $json.id }}'), 'continueErrorOutput'],
		[planUpgrade, 'stopWorkflow'],
	];
	for (const [parameters, onError] of options) {
		requests.length = 0;
		const { error, credentialReads } = await run(parameters, {
			credential: { ...plain(), ...data() } as ICredentialDataDecryptedObject,
			items: ITEMS,
			node: { onError },
			credentialHelper: helpers[name] && { getDecrypted: helpers[name] as typeof getDecrypted },
		});
		expect([error, credentialReads]).toEqual([undefined, reads]);
		const sent = requests.map(({ headers }) => headers.authentication);
		expect(sent.sort()).toEqual(keys.map((key) => `Bearer ${key}`));
	}
});

test('a read that fails is made again for each item', async () => {
	const { pairs } = await run(userGet('={{ $json.id }}'), {
		items: ITEMS,
		node: { onError: 'continueErrorOutput' },
		failingCredentialReads: [0, 2],
	});
	expect(pairs.map(({ length }) => length)).toEqual([2, 1]);
});
