import type { IHookFunctions, IWebhookFunctions } from 'n8n-workflow';

import { privateKeyOf } from '../../credentials/ResumeManagementApi.credentials';
import { readCredentialData } from '../shared/credential';
import { Failure } from '../shared/failure';
import { ParameterReader } from '../shared/parameters';
import { type Secrets, secretsOf } from '../shared/secrets';
import { findInvisible } from '../shared/text';
import { properties } from './properties';
import type { VerificationSettings } from './verify';

/** Values of the trigger's fields, and the secrets of its credential. */
export interface Settings extends VerificationSettings {
	events: string[];
	eventNamePath: string;
	eventIdPath: string;
	includeHeaders: boolean;
	/** Must not be shown. */
	secrets: Secrets;
}

type Context = IHookFunctions | IWebhookFunctions;

/** @throws Failure if a field or a webhook secret can't work; n8n's own errors */
export async function readSettings(context: Context): Promise<Settings> {
	const parameters = new ParameterReader(
		properties,
		(name, fallback) => context.getNodeParameter(name, fallback),
		'Until then, the trigger accepts no event.',
	);
	// n8n gives a hidden field its default.
	const settings = {
		events: parameters.choices('events'),
		verification: parameters.choice<VerificationSettings['verification']>('verification'),
		headerName: parameters.headerName('headerName'),
		signatureEncoding:
			parameters.choice<VerificationSettings['signatureEncoding']>('signatureEncoding'),
		signaturePrefix: parameters.optionalText('signaturePrefix'),
		eventNamePath: parameters.optionalText('options.eventNamePath'),
		eventIdPath: parameters.optionalText('options.eventIdPath'),
		includeHeaders: parameters.flag('options.includeHeaders'),
	};
	return { ...settings, ...(await readSecrets(context, settings.verification)) };
}

/** Webhook secrets by verification: headers have no character set, so only ASCII arrives unchanged. */
const USABLE = {
	header: /^[ -~]+$/,
	hmac: /./s,
	// 11 characters of Base64 are 8 bytes. A shorter one was not copied whole.
	standardWebhooks: /^(whsec_)?[A-Za-z0-9+/]{11,}=*$/,
};

async function readSecrets(
	context: Context,
	verification: VerificationSettings['verification'],
): Promise<Pick<Settings, 'webhookSecrets' | 'secrets'>> {
	// n8n gives a node no credential that `displayOptions` hide (n8n-core's node-execution-context.ts).
	if (verification === 'none') return { webhookSecrets: [], secrets: [] };
	const credential = await readCredentialData(context);
	const trimmed = (value: unknown) => (typeof value === 'string' ? value.trim() : '');
	const secret = trimmed(credential.webhookSecret);
	const older = trimmed(credential.olderWebhookSecret);
	if (secret === '') throw new Failure('trigger.noSecret');
	refuseInvisible('Webhook Secret', secret);
	refuseInvisible('Older Webhook Secret', older);
	const webhookSecrets = older === '' ? [secret] : [secret, older];
	if (!webhookSecrets.every((one) => USABLE[verification].test(one))) {
		throw new Failure('trigger.unusableSecret');
	}
	return {
		webhookSecrets,
		secrets: secretsOf([secret, older, privateKeyOf(credential.privateKey)]),
	};
}

/** @throws Failure with the code point of an invisible character; nothing else of the secret is shown */
function refuseInvisible(field: string, secret: string): void {
	const invisible = findInvisible(secret);
	if (!invisible) return;
	const { code, before } = invisible;
	const isLast = [...secret.slice(before.length)].length === 1;
	const inside = isLast ? 'at its end' : 'in its middle';
	throw new Failure('trigger.invisible', { field, code, place: before ? inside : 'at its start' });
}
