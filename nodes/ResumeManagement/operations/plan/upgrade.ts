import type { IDataObject, INodeProperties } from 'n8n-workflow';

import { exactString, isObject, valuesNamed } from '../../../shared/json';
import { normalize, normalizeEmail } from '../../../shared/text';
import { RecordOutput } from '../../responses/record';
import type { WriteOperation } from '../operation';
import { options, sendOnceKey, simplify } from '../fields';

const allowRepeatedUpgrades: INodeProperties = {
	displayName: 'Allow Repeated Upgrades',
	name: 'allowRepeatedUpgrades',
	type: 'boolean',
	default: false,
	description:
		'Whether to send an item with the email and plan of an earlier item. Otherwise such an item fails, unless each has its own Send Once Key.',
};

const maxUpgrades: INodeProperties = {
	displayName: 'Max Upgrades',
	name: 'maxUpgrades',
	type: 'number',
	typeOptions: { minValue: 1 },
	default: 100,
	description:
		'Max number of items in a run. A run with more items fails before the first is sent, because each item bills.',
};

/**
 * Statuses that say paid or on trial, in lower case, with blanks between the words. The
 * specification shows `active` only (§2); the others are those of Stripe, PayPal, Chargebee,
 * Recurly, Lemon Squeezy and WooCommerce. Until its end, a subscription that is to be cancelled is
 * paid.
 */
// prettier-ignore
const PAID = [
	'active', 'activated', 'enabled', 'live', 'current', 'valid', 'ok',
	'trial', 'trialing', 'in trial', 'on trial',
	'paid', 'succeeded', 'success', 'successful', 'confirmed', 'captured', 'settled',
	'renewed', 'upgraded', 'no payment required', 'non renewing', 'nonrenewing',
	'pending cancel', 'pending cancellation',
];

export const upgrade: WriteOperation = {
	value: 'upgrade',
	name: 'Upgrade',
	action: 'Upgrade plan (bills)',
	description:
		'Move an existing user, named by email, to another subscription plan. This bills: each call may charge a payment, so call it once for each purchase.',
	builderHint:
		'Bills: each item may charge a payment. Send one item for each purchase. Give it a Send Once Key that stands for the purchase, such as the ID of the payment. Never place it in a loop that repeats failures.',
	method: 'POST',
	path: '/plan/upgrade',
	write: true,
	bills: true,
	returns: RecordOutput,
	fields: [
		{
			displayName:
				'This operation bills, and executing it again bills again unless Send Once Key is set. Retry On Fail does not repeat an upgrade that was made or may have been made. Plan upgrades must be arranged with your account manager.',
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
			displayName: 'Plan ID',
			name: 'planId',
			type: 'string',
			required: true,
			default: '',
			placeholder: 'e.g. plan_pro',
			description: 'The ID of the plan to move to, as supplied by your account manager',
		},
		{
			displayName: 'AI Token ID',
			name: 'aiTokenId',
			type: 'string',
			// n8n's linter asks to mask each field whose name has "token". This ID is no secret: Preview
			// shows it.
			typeOptions: { password: true },
			default: '',
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
		options(allowRepeatedUpgrades, maxUpgrades, {
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
	// Times of the subscription record (partner API specification, §2).
	timestamps: ['created', 'current_period_start', 'current_period_end'],
	maxItemsField: 'options.maxUpgrades',
	readInput: (parameters) => {
		const planId = parameters.text('planId');
		const email = parameters.email('email');
		const aiTokenId = parameters.optionalText('aiTokenId');
		const preview = parameters.flag('preview');
		const isRepeatAllowed = parameters.flag('options.allowRepeatedUpgrades');
		// AI credits do not count: the same plan with other credits is most often a mistake.
		const id = JSON.stringify([normalizeEmail(email), normalize(planId, 'NFC')]);
		return {
			body: { planId, email, ...(aiTokenId && { aiTokenId }) },
			preview,
			extras: { email },
			purchase: { id, isRepeatAllowed },
		};
	},
	whyUnconfirmed: ({ data }, sent) => {
		if (!isObject(data)) return 'it has no subscription';
		return wrongPlan(data, sent) ?? wrongStatus(data) ?? wrongEmail(data, sent);
	},
};

/** The plan that the user is now on is the requested one (§3). */
function wrongPlan(subscription: IDataObject, sent: IDataObject): string | undefined {
	const plan = exactString(subscription.plan_id) ?? '';
	const isSame = normalize(plan, 'NFC') === normalize(String(sent.planId), 'NFC');
	return isSame ? undefined : 'its subscription is not of the requested plan';
}

/**
 * A subscription without a status is confirmed by its plan. After a status that is not known, the
 * outcome is `unknown`: the node does not send the upgrade again, and a person has to look.
 */
function wrongStatus(subscription: IDataObject): string | undefined {
	const statuses = valuesNamed(subscription, ['status']);
	const status = statuses.find((one) => one !== null && one !== '' && !isPaid(one));
	if (status === undefined) return undefined;
	const shown = typeof status === 'string' ? status : JSON.stringify(status);
	return `its subscription is '${shown}'`;
}

function isPaid(status: unknown): boolean {
	if (typeof status !== 'string') return false;
	const words = status
		.replace(/([a-z])(?=[A-Z])/g, '$1 ')
		.replace(/[\s_.-]+/g, ' ')
		.trim();
	return PAID.includes(words.toLowerCase());
}

/**
 * The specification shows no email in a subscription (§2). One that is there must be that of the
 * user.
 */
function wrongEmail(subscription: IDataObject, sent: IDataObject): string | undefined {
	const emails = valuesNamed(subscription, ['email']).filter((one) => typeof one === 'string');
	const wanted = normalizeEmail(String(sent.email));
	const other = emails.find((email) => email !== '' && normalizeEmail(email) !== wanted);
	return other === undefined ? undefined : `its subscription is for '${other}'`;
}
