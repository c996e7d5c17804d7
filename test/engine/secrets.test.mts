import { stringify } from 'flatted';
import type { INodeParameters } from 'n8n-workflow';

import type { EngineRun } from '../support/engine.mts';
import { byId, userGet } from '../support/parameters.mts';
import { http } from '../support/rawServer.mts';
import { useRawService } from '../support/service.mts';

/**
 * A service that repeats the credential's secrets where they are easily missed: they are in nothing that n8n
 * keeps. In every place and spelling: truth.test.mts and test/unit/secrets.test.mts.
 */

const KEY = 'sk_live_0123456789abcdef';
const OLDER = 'older-secret-1234567890';
let answer: unknown;
const { credential, run } = useRawService(() => answer, KEY);

const download = { resource: 'resume', operation: 'download', resumeId: byId('1') };
/** All that n8n keeps of a run. */
async function kept(parameters: INodeParameters, more: EngineRun['credential'] = {}) {
	const {
		run: execution,
		error,
		log,
	} = await run(parameters, {
		credential: { ...credential(), ...more },
		node: { onError: 'continueRegularOutput' },
	});
	return [stringify(execution.data), String(error), log].join();
}
const file = (headers: Record<string, string>) =>
	http(200, { 'Content-Type': 'application/pdf', ...headers }, '%PDF-1.7');

test('an error that is cut does not end in a part of the key', async () => {
	const errorMessage = 'x'.repeat(1_000 - KEY.length + 1) + KEY;
	answer = { status: 'error', errorCode: 'E', errorMessage };
	expect(await kept(userGet('1'))).not.toContain(KEY.slice(0, -3));
});

test.each([
	['that is cut', 'x'.repeat(255 - KEY.length + 1) + KEY],
	['with characters that are left out', KEY.split('').join(':')],
])('a file name %s does not show the key', async (_, name) => {
	answer = file({ 'Content-Disposition': `attachment; filename="${name}"` });
	expect(await kept(download)).not.toContain(KEY.slice(0, -3));
});

test('a type of a file does not show the key in lower case', async () => {
	answer = file({ 'Content-Type': `application/${KEY.toUpperCase()}` });
	expect(await kept(download, { privateKey: KEY.toUpperCase() })).not.toContain(KEY);
});

test('a key of digits does not come as a number', async () => {
	const privateKey = '123456789012345';
	answer = { status: 'success', data: { key: Number(privateKey), other: 123 } };
	const { items } = await run(userGet('1'), { credential: { ...credential(), privateKey } });
	expect(items).toEqual([{ key: '[hidden]', other: 123 }]);
});

test.each(['webhookSecret', 'olderWebhookSecret'])(
	'%s is hidden without its blanks',
	async (name) => {
		answer = { status: 'success', data: { echo: OLDER } };
		expect(await kept(userGet('1'), { [name]: ` ${OLDER} ` })).not.toContain(OLDER);
	},
);

test('a preview does not show a secret', async () => {
	const upgrade = { resource: 'plan', operation: 'upgrade', email: 'a@x', planId: `x${OLDER}` };
	const own = { ...credential(), olderWebhookSecret: OLDER };
	const { items } = await run({ ...upgrade, preview: true }, { credential: own });
	expect(items).toMatchObject([{ preview: true, body: { planId: 'x[hidden]' } }]);
});
