import type { IDataObject, INodeProperties } from 'n8n-workflow';

import { exactText, isObject } from '../../../shared/json';
import type { Operation } from '../../run/call';
import { reportsError } from '../../http/judge';
import { EMAIL } from '../../../shared/names';
import { plainEmail, textsNamed } from '../../output/records';
import { options, sendOnceKey, sendUnsettledKeysAgain, simplify } from '../fields';

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
		options(allowRepeatedUpgrades, sendUnsettledKeysAgain, {
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
		const preview = parameters.flag('preview');
		const mayRepeat = parameters.flag('options.allowRepeatedUpgrades');
		const isIso = parameters.choice('options.timestamps') === 'iso';
		return {
			body: { planId, email, ...(aiTokenId && { aiTokenId }) },
			preview,
			purchase: { id: JSON.stringify([preview, plainEmail(email), planId]), mayRepeat },
			...(isIso ? { isoTimestamps: TIMESTAMPS } : { hint: UNIX_SECONDS }),
		};
	},
	unconfirmed: (answer, { planId, email }, httpStatus) => {
		// Any other one may be a proxy's (§4.1).
		if (httpStatus !== 200) return `its HTTP status is ${httpStatus} and not 200`;
		const { data } = answer as IDataObject;
		if (!isObject(data)) return 'it holds no subscription';
		if (reportsError(data as unknown)) return 'its subscription reports an error';
		if (textsNamed(data, EMAIL).some((one) => plainEmail(one) !== plainEmail(String(email)))) {
			return 'its subscription is of another person';
		}
		// The plan that the user is now on is the one that was asked for (§3).
		if (exactText(data.plan_id) === planId) return undefined;
		return 'its subscription is not of the plan that was asked for';
	},
};

const UNIX_SECONDS =
	"The subscription's times are Unix timestamps in seconds, and n8n counts milliseconds. Add the option Timestamps to get ISO 8601, or convert them, such as with {{ $json.created.toDateTime('s') }}.";
