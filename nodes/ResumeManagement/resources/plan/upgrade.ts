import type { IDataObject, INodeProperties } from 'n8n-workflow';

import { isObject } from '../../answer/json';
import type { AnswerBody } from '../../answer/judge';
import type { Operation } from '../../request/operation';
import { options, sendOnceKey, simplify } from '../fields';

/** The subscription record's Unix timestamps, in seconds (partner API specification, §2). */
const TIMESTAMPS = ['created', 'current_period_start', 'current_period_end'];

/**
 * An ID that the account manager supplies. Its type stands apart from its name, as n8n's linter would
 * have a text with "token" in its name hidden like a password, and a user wants to see this one.
 */
const suppliedId = { type: 'string', default: '' } as const;

const allowRepeatedUpgrades: INodeProperties = {
	displayName: 'Allow Repeated Upgrades',
	name: 'allowRepeatedUpgrades',
	type: 'boolean',
	default: false,
	description:
		'Whether to send an item that has the email and plan of an earlier one. Without it, such an item fails, unless the two have different Send Once Keys.',
};

export const upgrade: Operation = {
	value: 'upgrade',
	name: 'Upgrade',
	action: 'Upgrade a plan (bills)',
	description:
		'Move an existing user, named by email, to another subscription plan. This bills: each call may charge a payment, so call it once for each purchase.',
	builderHint:
		'Bills: each item may charge a payment. Send one item for each purchase, give it a Send Once Key that stands for the purchase, such as the ID of the payment, and never place it in a loop that repeats failures.',
	method: 'POST',
	path: '/plan/upgrade',
	write: true,
	answer: 'record',
	fields: [
		{
			displayName:
				'This operation bills. Each item is sent once, one after the other, and Retry On Fail repeats no upgrade that has succeeded or may have. Plan upgrades must be arranged with your account manager.',
			name: 'billingNotice',
			type: 'notice',
			default: '',
		},
		{
			displayName: 'Email',
			name: 'email',
			type: 'string',
			required: true,
			default: '',
			placeholder: 'e.g. nathan@example.com',
			description: 'The email address of the existing user whose plan is upgraded',
		},
		{
			...suppliedId,
			displayName: 'Plan ID',
			name: 'planId',
			required: true,
			placeholder: 'e.g. plan_pro',
			description: 'The ID of the plan to move to, as supplied by your account manager',
		},
		{
			...suppliedId,
			displayName: 'AI Token ID',
			name: 'aiTokenId',
			placeholder: 'e.g. ai_tokens_100',
			description:
				'The ID of AI credits to attach to the upgrade, as supplied by your account manager. Left out when empty.',
		},
		sendOnceKey,
		{
			displayName: 'Preview',
			name: 'preview',
			type: 'boolean',
			default: false,
			description:
				'Whether to return what would be sent instead of sending it. Nothing is billed then.',
		},
		simplify,
		options(allowRepeatedUpgrades, {
			displayName: 'Timestamps',
			name: 'timestamps',
			type: 'options',
			options: [
				{
					name: 'ISO 8601',
					value: 'iso',
					description: 'Text in UTC, such as 2026-01-31T12:00:00.000Z',
				},
				{
					name: 'Unix Seconds',
					value: 'unix',
					description: 'Seconds since 1970, as the service sends them',
				},
			],
			default: 'unix',
			description: 'How to return the times of the subscription',
		}),
	],
	read: (parameters) => {
		const planId = parameters.text('planId');
		const email = parameters.email('email');
		const aiTokenId = parameters.optionalText('aiTokenId');
		const key = parameters.sendOnceKey();
		const preview = parameters.decision('preview');
		const mayRepeat = parameters.decision('options.allowRepeatedUpgrades');
		const isIso = parameters.option<string>('timestamps', 'unix') === 'iso';
		return {
			body: { planId, email, ...(aiTokenId && { aiTokenId }) },
			sendOnceKey: key,
			preview,
			// What has a key is told from other purchases by it.
			...(!key && {
				purchase: { id: JSON.stringify([preview, likeness(email), planId]), mayRepeat },
			}),
			...(isIso ? { convert: withIsoTimestamps } : { hint: UNIX_SECONDS }),
		};
	},
	unconfirmed: (body) =>
		subscription(body) ? undefined : 'The service answered without a subscription',
};

/** The same for addresses that a person may take for the same, whatever the case and form of their letters. */
function likeness(email: string): string {
	return email.normalize('NFKC').toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}

const UNIX_SECONDS =
	"The subscription's times are Unix timestamps in seconds, and n8n counts milliseconds. Add the option Timestamps to get ISO 8601, or convert them, such as with {{ $json.created.toDateTime('s') }}.";

/** The record in the answer: a success is confirmed by its status and its `plan_id` (§2 and §4.1). */
function subscription(body: AnswerBody): IDataObject | undefined {
	if (!isObject(body) || body.status !== 'success' || !isObject(body.data)) return undefined;
	const { data } = body;
	return data.plan_id === undefined || data.plan_id === null ? undefined : data;
}

function withIsoTimestamps(body: AnswerBody): AnswerBody {
	const data = subscription(body);
	const converted = TIMESTAMPS.map((name) => [name, toIso(data?.[name])]);
	return { ...body, data: { ...data, ...Object.fromEntries(converted.filter(([, iso]) => iso)) } };
}

/** Undefined for what is no time in seconds that n8n can show. */
function toIso(seconds: unknown): string | undefined {
	const date = new Date(typeof seconds === 'number' ? seconds * 1000 : NaN);
	return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
