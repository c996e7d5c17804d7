import type { IHookFunctions, IWebhookFunctions } from 'n8n-workflow';

import { privateKeyOf } from '../../credentials/ResumeManagementApi.credentials';
import { readCredentialData } from '../shared/credential';
import { Failure } from '../shared/failure';
import { ParameterReader } from '../shared/parameters';
import { type Secrets, secretsOf } from '../shared/secrets';
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

/** @throws a Failure if a field or a webhook secret can't be used; n8n's own errors */
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
	return { ...settings, ...(await readSecrets(context, settings)) };
}

/** Webhook secrets by verification: headers have no character set, so only ASCII arrives unchanged. */
const USABLE = {
	header: /^[ -~]+$/,
	hmac: /./s,
	standardWebhooks: /^(whsec_)?[A-Za-z0-9+/]{2,}=*$/,
};

async function readSecrets(
	context: Context,
	{ verification }: Pick<VerificationSettings, 'verification'>,
): Promise<Pick<Settings, 'webhookSecrets' | 'secrets'>> {
	// n8n gives a node no credential that `displayOptions` hide (n8n-core's node-execution-context.ts).
	if (verification === 'none') return { webhookSecrets: [], secrets: [] };
	const credential = await readCredentialData(context);
	const trimmed = (value: unknown) => (typeof value === 'string' ? value.trim() : '');
	const secret = trimmed(credential.webhookSecret);
	const older = trimmed(credential.olderWebhookSecret);
	if (secret === '') throw new Failure('trigger.noSecret');
	const webhookSecrets = older === '' ? [secret] : [secret, older];
	if (!webhookSecrets.every((one) => USABLE[verification].test(one))) {
		throw new Failure('trigger.unusableSecret');
	}
	return {
		webhookSecrets,
		secrets: secretsOf([secret, older, privateKeyOf(credential.privateKey)]),
	};
}
