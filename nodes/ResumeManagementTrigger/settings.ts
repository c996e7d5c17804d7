import type { IHookFunctions, IWebhookFunctions } from 'n8n-workflow';

import { privateKeyOf } from '../../credentials/ResumeManagementApi.credentials';
import { decrypt } from '../shared/credential';
import { Failure } from '../shared/failure';
import { ParameterReader } from '../shared/parameters';
import { type SecretSpellings, spellingsOf } from '../shared/secrets';
import { findInvisible } from '../shared/text';
import { properties } from './properties';
import type { VerificationSettings } from './verify';

/** Values of the trigger's fields, and the secrets of its credential. */
export interface Settings extends VerificationSettings {
	events: string[];
	eventNamePath: string;
	eventIdPath: string;
	includeHeaders: boolean;
	/** To be hidden in whatever a person or a log gets. */
	secrets: SecretSpellings;
}

/** Headers that are read if Header Name is empty. */
const DEFAULT_HEADERS = {
	none: '',
	header: 'X-Webhook-Secret',
	hmac: 'X-Webhook-Signature',
	standardWebhooks: '',
};

type Context = IHookFunctions | IWebhookFunctions;

/** @throws Failure if a field or a webhook secret can't work; n8n's own errors */
export async function readSettings(context: Context): Promise<Settings> {
	const parameters = new ParameterReader(
		properties,
		(name, fallback) => context.getNodeParameter(name, fallback),
		'Until then, the trigger accepts no event.',
	);
	// n8n gives a hidden field its default.
	const verification = parameters.choice<VerificationSettings['verification']>('verification');
	const settings = {
		events: parameters.choices('events'),
		verification,
		headerName: parameters.headerName('headerName') || DEFAULT_HEADERS[verification],
		signatureEncoding:
			parameters.choice<VerificationSettings['signatureEncoding']>('signatureEncoding'),
		signaturePrefix: parameters.optionalText('signaturePrefix'),
		eventNamePath: parameters.optionalText('options.eventNamePath'),
		eventIdPath: parameters.optionalText('options.eventIdPath'),
		includeHeaders: parameters.flag('options.includeHeaders'),
	};
	return { ...settings, ...(await readSecrets(context, verification)) };
}

/** Webhook secrets that can work, by verification. */
const USABLE = {
	// A header has no character set, so only ASCII arrives unchanged.
	header: /^[ -~]+$/,
	hmac: /./s,
	// 11 characters of Base64 are 8 bytes. A shorter secret was not copied whole. Supabase shows
	// secrets with `v1,`.
	standardWebhooks: /^(v1,)?(whsec_)?[A-Za-z0-9+/]{11,}=*$/,
};

async function readSecrets(
	context: Context,
	verification: VerificationSettings['verification'],
): Promise<Pick<Settings, 'webhookSecrets' | 'secrets'>> {
	// n8n gives a node no credential that `displayOptions` hide (n8n-core's
	// node-execution-context.ts).
	if (verification === 'none') return { webhookSecrets: [], secrets: [] };
	const credential = await decrypt(context);
	const newest = readSecret('Webhook Secret', credential.webhookSecret, verification);
	const older = readSecret('Older Webhook Secret', credential.olderWebhookSecret, verification);
	if (newest === '') throw new Failure('trigger.noSecret');
	const webhookSecrets = older === '' ? [newest] : [newest, older];
	return {
		webhookSecrets,
		secrets: spellingsOf([...webhookSecrets, privateKeyOf(credential.privateKey)]),
	};
}

/**
 * Returns a secret without blanks around it; '' if there is none.
 * @throws Failure for an invisible character, of which it shows nothing but code point and place,
 *   and for a secret that can't work
 */
function readSecret(field: string, value: unknown, verification: keyof typeof USABLE): string {
	const secret = typeof value === 'string' ? value.trim() : '';
	if (secret === '') return '';
	const invisible = findInvisible(secret);
	if (invisible) {
		const { code, position } = invisible;
		throw new Failure('trigger.invisible', { field, code, position });
	}
	if (!USABLE[verification].test(secret)) throw new Failure('trigger.unusableSecret', { field });
	return secret;
}
