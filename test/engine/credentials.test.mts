import type { ICredentialDataDecryptedObject } from 'n8n-workflow';
import { TestCredentials } from '../support/engine.mts';
import { planUpgrade, upgrade, userGet } from '../support/parameters.mts';
import { useRawService } from '../support/service.mts';

/** A run reads the credential once if it is proved to be the same for each item, else for each item. */

const SUCCESS = { status: 'success', data: { plan_id: 'pro', echo: 'private-key' } };
const { credential, requests, run } = useRawService(() => SUCCESS);

/** An expression after its first character. It evaluates to itself. */
const SELF = '{{ "=" + $json.self }}';
const ITEMS = [0, 1, 2].map((index) => ({
	id: `${index}`,
	email: `${index}@example.com`,
	planId: 'pro',
	key: `private-key-${index}`,
	self: SELF,
}));

const plain = () => ({ ...credential(), privateKey: 'private-key' });
const { getDecrypted } = TestCredentials.prototype;
type Values = Parameters<typeof getDecrypted>;
type Helper = (this: TestCredentials, ...values: Values) => Promise<object>;
/** Ways in which another n8n may read a credential. */
const changesItLater: Helper = async function (...values) {
	return { ...(await getDecrypted.apply(this, values)), privateKey: 'private-key-later' };
};
const makesTwoCalls: Helper = async function (...values) {
	const data = await getDecrypted.apply(this, values);
	const { expression } = values[6]!.workflow;
	expression.getParameterValue('x', null, 0, 0, 'Source', [], 'manual', {});
	return data;
};
const makesNoCall: Helper = async function () {
	return { ...plain(), reads: this.reads++ };
};

/** Three items need 1 read, or else 4: the first is for the proof. */
test.each<[string, data: object, reads: number, keys: string[], helper?: Helper]>([
	['no expression', {}, 1, ['private-key']],
	['$json', { privateKey: '={{ $json.key }}' }, 4, ITEMS.map(({ key }) => key)],
	['an expression that is its own value', { extra: { list: [`=${SELF}`] } }, 4, ['private-key']],
	['a change after the expressions', {}, 4, ['private-key-later'], changesItLater],
	['two evaluations', {}, 4, ['private-key'], makesTwoCalls],
	['no evaluation', {}, 4, ['private-key'], makesNoCall],
])('a credential with %s', async (_, data, reads, keys, helper = undefined) => {
	for (const parameters of [userGet('={{ $json.id }}'), planUpgrade]) {
		const onError = parameters === planUpgrade ? 'stopWorkflow' : 'continueErrorOutput';
		requests.length = 0;
		const { error, credentialReads } = await run(parameters, {
			credential: { ...plain(), ...data } as ICredentialDataDecryptedObject,
			items: ITEMS,
			node: { onError },
			credentialHelper: helper && { getDecrypted: helper as typeof getDecrypted },
		});
		expect([error, credentialReads]).toEqual([undefined, reads]);
		expect(requests).toHaveLength(3);
		const sent = new Set(requests.map(({ headers }) => headers.authentication));
		expect([...sent].sort()).toEqual(keys.map((key) => `Bearer ${key}`));
	}
});

test('a read that fails is made again for each item', async () => {
	const { pairs } = await run(userGet('={{ $json.id }}'), {
		items: ITEMS,
		node: { onError: 'continueErrorOutput' },
		failingCredentialReads: [0, 1],
	});
	expect(pairs.map(({ length }) => length)).toEqual([2, 1]);
});

// prettier-ignore
const PASTED = [
	'private-key', ' private-key\n', 'Bearer private-key', '\tbearer  private-key ', 'private\n-key',
	'Authentication: Bearer private-key', 'authorization:private-key', 'private\u2011key',
	'“private-key”', '“Bearer private-key”', 'private-\u200bkey', '\ufeffprivate-key\u00a0',
];
test.each(PASTED)('the pasted key %j is sent as private-key, and hidden', async (privateKey) => {
	const { items } = await run(upgrade, { credential: { ...credential(), privateKey } });
	expect(requests.map(({ headers }) => headers.authentication)).toEqual(['Bearer private-key']);
	expect(items).toMatchObject([{ echo: '[hidden]' }]);
});

const UNUSABLE = ['', ' ', 'Bearer', 'Bearer ', '\u200b'];
test.each(UNUSABLE)('nothing is sent with the key %j, and each item fails', async (privateKey) => {
	const { failures } = await run(userGet('1'), {
		credential: { ...credential(), privateKey },
		items: [{}, {}],
		node: { onError: 'continueErrorOutput' },
	});
	const message = "The credential's 'Private Key' can't be used";
	expect(failures).toMatchObject([{ message }, { message }]);
	expect(requests).toEqual([]);
});
