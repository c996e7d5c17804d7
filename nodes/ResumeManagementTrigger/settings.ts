import { type IHookFunctions, type IWebhookFunctions, NodeOperationError } from 'n8n-workflow';

import { isObject } from '../ResumeManagement/answer/json';
import { type EventPaths, SELECTABLE } from './event';
import { standardKey, type Verification } from './verify';

/** What the user has chosen, checked: a setting that is none must not open the trigger to anybody. */
export interface Settings {
	events: string[];
	verification: Verification;
	paths: EventPaths;
	includeHeaders: boolean;
}

/** At activation, or for a request. */
type Context = IHookFunctions | IWebhookFunctions;

/** Why nothing can be verified, in a sentence without the values of fields. */
export class SettingError extends NodeOperationError {}

/** Seconds: a replay of yesterday is no slow delivery. */
export const MOST_TOLERANCE = 86_400;

/** @throws {SettingError} a parameter, or the expression in it, gives what can't be used */
export function readSettings(context: Context): Settings {
	const parameter = (name: string): unknown => {
		try {
			return context.getNodeParameter(name);
		} catch {
			// An expression that fails. No field takes undefined.
			return undefined;
		}
	};
	const invalid = (label: string, wanted: string) =>
		new SettingError(context.getNode(), `'${label}' is not ${wanted}`, {
			description: 'Check the field, and the expression in it. Until then no event is taken.',
		});
	const text = (label: string, value: unknown): string => {
		if (typeof value !== 'string') throw invalid(label, 'a text');
		return value.trim();
	};
	const headerName = (label: string, value: unknown): string => {
		const name = typeof value === 'string' ? value.trim() : '';
		// A token of RFC 9110, section 5.6.2.
		if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) throw invalid(label, 'the name of a header');
		return name;
	};
	const tolerance = (): number => {
		const value = parameter('timestampTolerance');
		if (typeof value === 'number' && value >= 1 && value <= MOST_TOLERANCE) return value;
		throw invalid('Timestamp Tolerance', `a number of seconds from 1 to ${MOST_TOLERANCE}`);
	};

	const verification = (): Verification => {
		const kind = parameter('verification');
		const signatureHeader = () => headerName('Header Name', parameter('headerName'));
		switch (kind) {
			case 'none':
				return { kind };
			case 'header':
				return { kind, headerName: signatureHeader() };
			case 'standardWebhooks':
				return { kind, tolerance: tolerance() };
			case 'timestampedSignature':
				return { kind, headerName: signatureHeader(), tolerance: tolerance() };
			case 'hmac': {
				const encoding = parameter('signatureEncoding');
				if (encoding !== 'hex' && encoding !== 'base64') {
					throw invalid('Signature Encoding', 'one of its choices');
				}
				const prefix = text('Signature Prefix', parameter('signaturePrefix'));
				const signed = { kind, headerName: signatureHeader(), encoding, prefix } as const;
				const timestampHeader = text('Timestamp Header', parameter('timestampHeader'));
				if (timestampHeader === '') return signed;
				const name = headerName('Timestamp Header', timestampHeader);
				return { ...signed, timestamp: { headerName: name, tolerance: tolerance() } };
			}
			default:
				throw invalid('Verification', 'one of its choices');
		}
	};

	const events = parameter('events');
	if (!isListOf(SELECTABLE, events)) throw invalid('Trigger On', 'a list of its choices');
	const options = parameter('options');
	if (!isObject(options)) throw invalid('Options', 'a group of fields');
	const { eventNamePath = '', eventIdPath = '', includeHeaders = false } = options;
	if (typeof includeHeaders !== 'boolean') {
		throw invalid('Include Headers and Query', 'on or off');
	}
	return {
		events,
		verification: verification(),
		paths: {
			namePath: text('Event Name Path', eventNamePath),
			idPath: text('Event ID Path', eventIdPath),
		},
		includeHeaders,
	};
}

/**
 * The secrets that a request may prove: the credential's present one, and an older one while the
 * service changes over. Blanks around them, which come with pasting, do not count.
 *
 * @throws {SettingError} there is none, or it is not of the kind that the verification takes
 */
export async function readSecrets(context: Context, { kind }: Verification): Promise<string[]> {
	if (kind === 'none') return [];
	const { webhookSecret, olderWebhookSecret = '' } =
		await context.getCredentials('resumeManagementApi');
	const secrets = [webhookSecret, olderWebhookSecret].map((secret) =>
		typeof secret === 'string' ? secret.trim() : '',
	);
	if (secrets[0] === '') {
		throw new SettingError(context.getNode(), "The credential's Webhook Secret is empty", {
			description: "Enter it in the credential, or set Verification to 'None'.",
		});
	}
	const given = secrets.filter((secret) => secret !== '');
	if (kind === 'standardWebhooks' && given.some((secret) => standardKey(secret) === undefined)) {
		throw new SettingError(context.getNode(), 'A webhook secret is not one of Standard Webhooks', {
			description:
				'Such a secret is Base64, usually after the prefix whsec_. Enter the whole secret in the credential, or choose another verification.',
		});
	}
	return given;
}

function isListOf(choices: readonly string[], value: unknown): value is string[] {
	return Array.isArray(value) && value.length > 0 && value.every((one) => choices.includes(one));
}
