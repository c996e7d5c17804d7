import {
	type IHookFunctions,
	type INodeProperties,
	type IWebhookFunctions,
	NodeOperationError,
} from 'n8n-workflow';

import { isObject } from '../shared/json';
import { type Secrets, secretsOf } from '../shared/secrets';
import { MOST_TOLERANCE, properties } from './properties';
import { standardKey, type Verification } from './verify';

/** The values of the node's fields, by their names, and what the trigger needs of its credential. */
export interface Settings extends Verification {
	events: string[];
	options: { eventIdPath: string; eventNamePath: string; includeHeaders: boolean };
	/** Finds whatever is secret in the credential. */
	secrets: Secrets;
}

/** At activation, or for a request. */
type Context = IHookFunctions | IWebhookFunctions;

/** Why nothing can be verified, in a sentence without the values of fields. */
export class SettingError extends NodeOperationError {}

/** Fields whose text is the name of a header. */
const HEADERS = ['headerName', 'timestampHeader'];
/** A token of RFC 9110, section 5.6.2. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/** What a field of each type takes, in the words of an error and as a test. */
const TAKEN: Record<string, [string, (value: unknown, field: INodeProperties) => boolean]> = {
	string: ['a text', (value) => typeof value === 'string'],
	header: [
		'the name of a header',
		(value, { required }) =>
			typeof value === 'string' && (TOKEN.test(value.trim()) || (!required && !value.trim())),
	],
	boolean: ['on or off', (value) => typeof value === 'boolean'],
	number: [
		`a number of seconds from 1 to ${MOST_TOLERANCE}`,
		(value) => typeof value === 'number' && value >= 1 && value <= MOST_TOLERANCE,
	],
	options: ['one of its choices', isChoice],
	multiOptions: [
		'a list of its choices',
		(value, field) =>
			Array.isArray(value) && value.length > 0 && value.every((one) => isChoice(one, field)),
	],
	collection: ['a group of fields', isObject],
};

/**
 * Reads the fields, each as the node describes it, and the credential. n8n leaves out the fields that it
 * does not show, which then have their defaults.
 * @throws {SettingError} what a field or the credential holds could let in anybody, or nobody
 */
export async function readSettings(context: Context): Promise<Settings> {
	const fields = properties.filter(({ type }) => type !== 'notice');
	const values = fields.map((field) => [
		field.name,
		check(context, field, parameter(context, field)),
	]);
	const settings = Object.fromEntries(values) as Settings;
	return { ...settings, ...(await readCredential(context, settings)) };
}

function check(context: Context, field: INodeProperties, value: unknown): unknown {
	const [wanted, isTaken] = TAKEN[HEADERS.includes(field.name) ? 'header' : field.type]!;
	if (!isTaken(value, field)) {
		throw new SettingError(context.getNode(), `'${field.displayName}' is not ${wanted}`, {
			description: 'Check the field, and the expression in it. Until then, no event is accepted.',
		});
	}
	if (typeof value === 'string') return value.trim();
	if (!isObject(value)) return value;
	const inner = (field.options as INodeProperties[]).map((option) => {
		const { [option.name]: chosen = option.default } = value;
		return [option.name, check(context, option, chosen)];
	});
	return Object.fromEntries(inner);
}

function isChoice(value: unknown, { options = [] }: INodeProperties): boolean {
	return options.some((option) => 'value' in option && option.value === value);
}

/** @returns undefined, which no field takes, where the expression fails */
function parameter(context: Context, field: INodeProperties): unknown {
	try {
		return context.getNodeParameter(field.name, field.default);
	} catch {
		return undefined;
	}
}

/**
 * n8n gives no credential to a trigger that verifies nothing. Blanks around a secret, which come with
 * pasting, do not count.
 */
async function readCredential(
	context: Context,
	{ verification }: Verification,
): Promise<Pick<Settings, 'webhookSecrets' | 'secrets'>> {
	if (verification === 'none') return { webhookSecrets: [], secrets: secretsOf([]) };
	const credential = await context.getCredentials('resumeManagementApi');
	const text = (value: unknown) => (typeof value === 'string' ? value.trim() : '');
	const [present, older] = [credential.webhookSecret, credential.olderWebhookSecret].map(text);
	if (!present) {
		throw new SettingError(context.getNode(), "The credential's Webhook Secret is empty", {
			description: "Enter it in the credential, or set Verification to 'None'.",
		});
	}
	const webhookSecrets = older ? [present, older] : [present];
	if (verification === 'standardWebhooks' && !webhookSecrets.every(standardKey)) {
		throw new SettingError(context.getNode(), 'A webhook secret is not one of Standard Webhooks', {
			description:
				'Such a secret is Base64, usually after the prefix whsec_. Enter the whole secret in the credential, or choose another verification.',
		});
	}
	return { webhookSecrets, secrets: secretsOf([...webhookSecrets, credential.privateKey]) };
}
