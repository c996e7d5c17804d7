import type { IDataObject } from 'n8n-workflow';

import type { AnswerBody, Operation } from '../../request/operation';
import { record } from '../../request/shape';
import { options, simplify } from '../fields';

/** The subscription record's Unix timestamps, in seconds (partner API specification, §2). */
const TIMESTAMPS = ['created', 'current_period_start', 'current_period_end'];

/**
 * An ID that the account manager supplies. Its type stands apart from its name, as n8n's linter would
 * have a text with "token" in its name hidden like a password, and a user wants to see this one.
 */
const suppliedId = { type: 'string', default: '' } as const;

export const upgrade: Operation = {
	value: 'upgrade',
	name: 'Upgrade',
	action: 'Upgrade a plan',
	description:
		'Move an existing user, named by email, to another subscription plan. This bills: each call may charge a payment, so call it once for each purchase.',
	method: 'POST',
	path: '/plan/upgrade',
	write: true,
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
		simplify,
		options({
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
		const aiTokenId = parameters.optionalText('aiTokenId');
		return {
			body: {
				planId: parameters.text('planId'),
				email: parameters.email('email'),
				...(aiTokenId && { aiTokenId }),
			},
		};
	},
	unconfirmed: (body) =>
		subscription(body) ? undefined : 'The service answered without a subscription',
	shape: (body, parameters) => {
		const iso = parameters.option<string>('timestamps', 'unix') === 'iso';
		const data = iso ? withIsoTimestamps(subscription(body)!) : subscription(body)!;
		return record({ ...body, data }, parameters);
	},
};

/** The record in the answer: a success is confirmed by its status and its `plan_id` (§2 and §4.1). */
function subscription(body: AnswerBody): IDataObject | undefined {
	if (Array.isArray(body) || body.status !== 'success') return undefined;
	const data = body.data as IDataObject | null | undefined;
	return data?.plan_id === undefined ? undefined : data;
}

function withIsoTimestamps(data: IDataObject): IDataObject {
	const converted = TIMESTAMPS.filter((name) => typeof data[name] === 'number').map((name) => [
		name,
		new Date((data[name] as number) * 1000).toISOString(),
	]);
	return { ...data, ...Object.fromEntries(converted) };
}
