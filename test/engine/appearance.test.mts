import type { INodeParameters } from 'n8n-workflow';
import { processedData } from '../support/deduplication.mts';
import { callTool, type EngineRun } from '../support/engine.mts';
import { bodyField, byEmail, byId, customSend } from '../support/parameters.mts';
import { getToken, getUsers, upgrade, userGet } from '../support/parameters.mts';
import { useRawService } from '../support/service.mts';

/** A key, an ID and an address are what a person sees. What people's tools really send is named at each case. */

let users: object[] = [];
let total: number | undefined;
const { credential, run, requests, sent } = useRawService(({ path, body }) => {
	if (path.startsWith('/v1/users')) return { status: 'success', data: users, total };
	const { planId = '' } = JSON.parse(body || '{}') as { planId?: string };
	return { status: 'success', token: 't', data: { id: 1, plan_id: planId, ...answer } };
});

let answer: object;

beforeEach(() => {
	processedData.clear();
	answer = {};
	total = undefined;
});

const create = { resource: 'resume', operation: 'create' };
const CONTINUES: Partial<EngineRun> = { node: { onError: 'continueErrorOutput' } };
const withKey = (sendOnceKey: string, email = 'ann@x.example') =>
	({ ...upgrade, email, sendOnceKey }) as INodeParameters;

// prettier-ignore
const INVISIBLE: Array<[where: string, character: string]> = [
	['a zero width space of a web page', '\u200b'], ['a mark of a right-to-left form', '\u200e'],
	['a word joiner', '\u2060'], ['a soft hyphen of a word processor', '\u00ad'],
	['a joiner of an emoji keyboard', '\u200d'], ['an embedding of a contact list', '\u202a'],
	['a byte order mark', '\ufeff'], ['a no-break space of a spreadsheet', '\u00a0'],
	['a control character', '\u0007'], ['half of an emoji', '\ud83d'], ['a line separator', '\u2028'],
	['a variation selector', '\ufe0f'], ['a combining grapheme joiner', '\u034f'],
];

test.each(INVISIBLE)('%s at the end of a key makes no second payment', async (_, character) => {
	await run(withKey('pay_1'));
	const { items } = await run(withKey(`pay_1${character}`));
	expect(items).toMatchObject([{ alreadySent: true }]);
	expect(requests).toHaveLength(1);
});

test.each(INVISIBLE)('%s within a key, an ID or an email is named', async (_, character) => {
	const code = `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
	const text = `ab${character}c`;
	const cases: Array<[field: string, before: string, INodeParameters]> = [
		['Send Once Key', 'ab', withKey(text)],
		['Email', 'ab', withKey('k', `${text}@x.example`)],
		['Plan ID', 'ab', { ...upgrade, planId: text }],
		['AI Token ID', 'ab', { ...upgrade, aiTokenId: text }],
		['User', 'ab', userGet(text)],
		['Path', '/ab', { ...customSend, path: `/${text}` }],
	];
	for (const [field, before, parameters] of cases) {
		const { error } = await run(parameters);
		expect(error?.message).toBe(
			`'${field}' has an invisible character (${code}) after '${before}' [item 0]`,
		);
	}
	expect(requests).toEqual([]);
});

test('the same accents, composed by Windows and decomposed by macOS, are one key and one upgrade', async () => {
	const [composed, decomposed] = ['zahlung-\u00fc', 'zahlung-u\u0308'];
	await run(withKey(composed));
	expect((await run(withKey(decomposed))).items).toMatchObject([{ alreadySent: true }]);
	const items = [composed, decomposed].map((name) => ({ email: `${name}@x.example` }));
	const parameters = { ...upgrade, email: '={{ $json.email }}' };
	const { failures } = await run(parameters, { items, ...CONTINUES });
	expect(failures).toMatchObject([{ id: 'write.repeated' }]);
	expect(requests).toHaveLength(2);
});

test.each([
	['pay-1', 'pay\u20111', 'a hyphen that Word does not break'],
	['pay-1', 'pay\u20101', "Unicode's hyphen"],
	['pay-1', 'pay\u20131', 'a dash of Outlook'],
	["O'Neil-1", 'O\u2019Neil-1', 'an apostrophe of Word'],
	['a "b"', 'a \u201cb\u201d', 'quotes of Word'],
	['pay-1', 'pay\u22121', 'a minus of a spreadsheet'],
	['pay-1', 'pay\u30fc1', 'the long vowel of a Japanese keyboard (whatwg/html, 11616)'],
	['pay-1', 'pay\u2e3a1', 'a long dash'],
	["O'Neil-1", 'O\u02bcNeil-1', 'an apostrophe of Ukrainian keyboards'],
	['INV 1', 'INV  1', 'a second blank within (firefly-iii, 8130)'],
	['pay_1', 'pay_\uff11', 'a full-width digit of a Japanese keyboard'],
	['file', '\ufb01le', 'a ligature of a PDF'],
	["O'Neil-1", 'O\u00b4Neil-1', 'an accent in place of an apostrophe'],
	['5"', '5\u2033', 'the sign for inches'],
	['7~8', '7\u301c8', 'the wave of Japanese Windows'],
	[
		'f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
		'{F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6}',
		'a UUID of SQL Server (tedious, 830)',
	],
	[
		'pay_f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
		'pay_F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6',
		'a UUID of SQL Server within (node-mssql, 756)',
	],
	[
		'f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
		'f81d4fae7dec11d0a76500a0c91e6bf6',
		'a UUID of Notion, which writes both',
	],
])('the keys %j and %j, with %s, are one payment', async (one, other) => {
	await run(withKey(one, upgrade.email as string));
	const { items } = await run(withKey(other, upgrade.email as string));
	expect(items).toMatchObject([{ alreadySent: true }]);
	expect(requests).toHaveLength(1);
});

test('a payment that comes again with other letters in its email is a success', async () => {
	await run(withKey('pay_1', 'Ann@X.example'));
	const { items } = await run(withKey('pay_1', 'ann@x.example'));
	expect(items).toMatchObject([{ alreadySent: true }]);
	expect(requests.map(({ body }) => (JSON.parse(body) as { email: string }).email)).toEqual([
		'Ann@X.example',
	]);
});

test.each([
	['mailto:a@b.example', "It has 'mailto:'"],
	['<a@b.example>', "It has '<' and '>'"],
	['Ann <a@b.example>', "It has '<' and '>'"],
	['"a@b.example"', `It has '"'`],
	['“a@b.example”', "It has '“' and '”'"],
	['a@b.example,', "It has ','"],
	['a@b.example;', "It has ';'"],
	['a@b.example;c@d.example', "It has ';'"],
	['a@b..example', "It has '..'"],
	['.a@b.example', "It has '.'"],
	['a@.b.example', "It has '@.'"],
	['a@b.example.', "It has '.' at its end"],
	['["a@b.example"]', `It has '[' and '"' and ']'`],
	['(a@b.example)', "It has '(' and ')'"],
	["'a@b.example'", "It has '''"],
	['**a@b.example**', "It has '**'"],
	['a@b.example!', "It has '!'"],
	['a@b.example%20', "It has '%20'"],
	['•a@b.example', "It has '•'"],
	["'a@b.example", "It has '''"],
	['%20a@b.example', "It has '%20'"],
	['mailto%3Aa@b.example', "It has 'mailto%3A'"],
	['Email: a@b.example', "It has 'Email:'"],
	['u003ca@b.exampleu003e', "It has 'u003c'"],
	['–a@b.example', "It has '–'"],
	['|a@b.example|', "It has '|'"],
	['{a@b.example}', "It has '{' and '}'"],
	['undefined@undefined', "It has 'undefined'"],
	['a@-b.example', "It has '@-'"],
])(
	'the address %j, as mail programs and spreadsheets write it, is not billed',
	async (email, advice) => {
		for (const parameters of [
			{ ...upgrade, email },
			{ ...create, userId: byEmail(email) },
		]) {
			const { error } = await run(parameters);
			expect(error?.message).toMatch(/^'(Email|User)' is more than an email address/);
			expect(error?.description).toContain(advice);
		}
		expect(requests).toEqual([]);
	},
);

// The last ones are of shops' customers: providers in Japan have given such addresses (PHPMailer, issue 418).
// prettier-ignore
const VALID = ['a+b@c.example', "o'brien@c.example", 'müller@bücher.example', '用户@例子.example', 'a_b-c.d@e-f.example', 'a@localhost', 'try..this..0511@docomo.example', 'hoge.@docomo.example', 'ann@my_shop.example', 'ann-.-b@c.example'];
test.each(VALID)('the address %s is sent as it is', async (email) => {
	const { items } = await run({ ...upgrade, email });
	expect(items).toMatchObject([{ email, billed: true }]);
});

test.each([
	'@x.example',
	'{{ $json.no }}@x.example',
	'ann@',
	'a@b@x.example',
	'ann',
	`${'a'.repeat(400)}@x.example`,
])(
	'what an expression without a value leaves of an address, as %j, is no address',
	async (email) => {
		const { error } = await run({ ...upgrade, email: `=${email}` });
		expect(error?.message).toBe("'Email' is not an email address [item 0]");
		expect(requests).toEqual([]);
	},
);

test.each([
	['x@MÜLLER.example', 'x@müller.example', 'a mail program'],
	['x@xn--mller-kva.example', 'x@müller.example', 'a form of Chrome (flora-server, issue 561)'],
	['É1@x.example', 'é1@x.example', 'a spreadsheet in capitals'],
	['ПЕТР@почта.example', 'петр@почта.example', 'a spreadsheet in capitals'],
	['γιώργος.π@x.example', 'ΓΙΏΡΓΟΣ.Π@X.example', 'a spreadsheet in capitals (elixir, 15791)'],
])('%s and %s, from %s, are one person', async (one, other) => {
	const parameters = { ...upgrade, email: '={{ $json.email }}' };
	const items = [{ email: one }, { email: other }];
	expect((await run(parameters, { items, ...CONTINUES })).failures).toMatchObject([
		{ id: 'write.repeated' },
	]);
	await run(withKey('pay_1', one));
	expect((await run(withKey('pay_1', other))).items).toMatchObject([{ alreadySent: true }]);
	users = [{ id: 'u1', email: other }];
	await run({ ...create, userId: byEmail(one) });
	expect(sent().at(-1)).toBe('POST /v1/user/u1/resume');
});

test('the Turkish İ is no i', async () => {
	users = [{ id: 'u1', email: 'ida@x.example' }];
	const { error } = await run({ ...create, userId: byEmail('\u0130da@x.example') });
	expect(error?.message).toContain('No user has this email address');
});

describe('as a tool', () => {
	const call = async (parameters: INodeParameters) => {
		const [result] = await callTool({ parameters, credential: credential() });
		return JSON.parse(String(result!.result)) as object[];
	};

	// prettier-ignore
	const WORDS = ['null', 'None', 'undefined', 'N/A', ' NULL ', 'null\u200b', '<UNKNOWN>', '""', "'null'", 'NA', 'n.a.', '(none)', '<nil>', 'not provided', '-', '[]', '{}', 'undefined undefined', 'optional', 'string', '<user_id>', 'empty string', 'unspecified', 'N / A', 'null (not provided)', 'no AI token', 'Not mentioned', 'nothing', '“”', '…', 'user did not provide', 'ｎｕｌｌ'];
	test.each(WORDS)('the word %j of a model is no ID', async (word) => {
		const [item] = await call({ ...upgrade, aiTokenId: word });
		expect(item).toMatchObject({ plan_id: upgrade.planId });
		expect(JSON.parse(requests[0]!.body)).not.toHaveProperty('aiTokenId');
		for (const [field, parameters] of [
			['User', userGet(word)],
			['Plan ID', { ...upgrade, planId: word }],
			['Send Once Key', withKey(word)],
		] as const) {
			const message = `'${field}' is empty`;
			expect(await call(parameters)).toMatchObject([{ error: { message } }]);
		}
		expect(requests).toHaveLength(1);
	});

	test.each(['#REF!', '#N/A-pack', '[object Object]', '{ai_token_id}', '%AI_TOKEN%', 'Loading...'])(
		'the AI Token ID %j, which was lost before the model, is not left out of what bills',
		async (aiTokenId) => {
			const [item] = await call({ ...upgrade, aiTokenId });
			const message = `'AI Token ID' has '${aiTokenId}' in place of a value`;
			expect(item).toMatchObject({ error: { message } });
			expect(requests).toEqual([]);
		},
	);

	test('an empty list in an optional field is left out (mastra, 10728)', async () => {
		await call({ ...upgrade, aiTokenId: '={{ [] }}' });
		expect(JSON.parse(requests[0]!.body)).not.toHaveProperty('aiTokenId');
	});

	test('a model whose fields are not there reads that, and no empty user', async () => {
		const only = await call({ ...userGet('1'), options: { fieldsToReturn: '["id"]' } });
		expect(only).toEqual([{ id: 1 }]);
		const fields = await call({ ...userGet('1'), options: { fieldsToReturn: 'nom' } });
		const message = expect.stringContaining("'Fields to Return'") as string;
		expect(fields).toEqual([{}, { message }]);
	});

	test('an empty list says so', async () => {
		users = [];
		const [item] = await call(getUsers);
		expect(item).toEqual({ message: expect.stringContaining('an empty list') as string });
		total = 5;
		const [limited] = await call({ ...getUsers, returnAll: false, limit: 5 });
		const message = expect.stringContaining('Records that came: 0. The response') as string;
		expect(limited).toEqual({ message });
		users = [{ id: 'u1' }];
		const part = await call({ ...getUsers, returnAll: false, limit: 5 });
		expect(part).toEqual([
			{ id: 'u1' },
			{ message: expect.stringContaining('Records that came: 1. The response') as string },
		]);
	});
});

test('outside of tools, a word that may be a name is an ID like another', async () => {
	for (const word of ['none', 'unknown', 'NA']) await run(userGet(word));
	expect(sent()).toEqual(['GET /v1/user/none', 'GET /v1/user/unknown', 'GET /v1/user/NA']);
});

// prettier-ignore
const OF_PROGRAMS = ['null', 'undefined', 'NaN', 'N/A', 'Invalid DateTime', 'NULL'];
// prettier-ignore
const BROKEN = ['#REF!', '#ERROR!', '#NAME?', '#DIV/0!', '#BEZUG!', '#¡REF!', '#¿NOMBRE?', '#Н/Д', '#I/T', '#PUUTTUU', '#YOK', '####', '＃REF!', 'Err:502', 'pay-#REF!', '#N/A-upgrade', 'Loading...', 'pay_[object Object]'];
test.each([...OF_PROGRAMS, ...BROKEN])(
	'%s of a program, or of a spreadsheet in any language, is neither a key nor an ID',
	async (text) => {
		for (const [field, parameters] of [
			['Send Once Key', withKey(text)],
			['Plan ID', { ...upgrade, planId: text }],
			['AI Token ID', { ...upgrade, aiTokenId: text }],
			['User', userGet(text)],
		] as const) {
			const { error } = await run(parameters);
			expect(error?.message).toBe(`'${field}' has '${text}' in place of a value [item 0]`);
		}
		expect(requests).toEqual([]);
	},
);

test.each(['undefined', 'null', 'NaN'])(
	'%s within the path of a custom request is refused',
	async (text) => {
		const { error } = await run({ ...customSend, path: `/user/${text}/resume` });
		expect(error?.message).toBe(`'Path' has '${text}' in place of a value [item 0]`);
		expect(requests).toEqual([]);
	},
);

test.each([
	'$json.paymentId',
	'{ $json.paymentId }',
	'pay-$json.id',
	"$node['Pay'].json.id",
	"$('Pay').item.json.id",
	'${id}',
	'$execution.id',
])('the key %j, which is typed without the braces of an expression, is refused', async (key) => {
	const { error } = await run(withKey(key));
	const message = "'Send Once Key' has an expression that n8n did not evaluate [item 0]";
	expect(error?.message).toBe(message);
	expect(requests).toEqual([]);
});

test.each([
	'#1001',
	'#EU1001',
	'order #7',
	'na-7',
	'string-7',
	'<7@mail.example>',
	'$1001',
	0,
	'{6f1a2b3c-0d4e}',
	'0-0',
	'<abc+tag=@x.example>',
	'["emma","pro"]',
	'{"id":"abc"}',
	'{١٢٣}',
	'🎉',
	'<urn:uuid:a>',
	'Pro...',
	'#PRO',
	'#000',
	'page#name?x=1',
	'null7',
	'{"id":7,"note":null}',
	'US$(49)',
	'cash$now',
	'{12345}',
	'#INV/A',
	'pi_3NaNx7',
	'None Smith',
	'undefinedco-1',
	'V1StGXR8_Z5jdHi6B-my_',
	'-NIkMlcbvpZefkTkIvwU',
	'KQXYeHYAW_',
	'nil.patel-1001',
	'plan-none-ord-1',
	'A<b>1</b>',
])('the key %j of a shop or a mail is a key', async (key) => {
	expect((await run(withKey(key as string))).items).toMatchObject([{ billed: true }]);
});

// prettier-ignore
const NO_KEYS = ['undefined', 'null', 'NaN', '[object Object]', '#N/A', '#NV', 'TBD', 'Invalid DateTime', '(blank)', '\\N', '--', 'placeholder', 'Loading…', 'Lädt...', 'NULL;', '“null”', 'NaT', '<NA>', '00000000-0000-0000-0000-000000', 'pay_undefined', 'order-null-7', 'pay_None', 'pay_<NA>', 'pay_<no value>', 'pay.undefined', '#GETTING_DATA', '#REF', 'a@x.example-Invalid DateTime', 'INVundefined', 'paynull', 'pay_nan', 'a-00000000-0000-0000-0000', 'pay-#WERT!', 'pay-#NV', '#N/D', 'pay_none', 'pay_NIL', 'inv_N/A', '#ERROR', 'pay_', '-upgrade', 'MY-SHOP-', 'shop1_', 'stripe:', 'order#', '{shop}-null', 'PAY_UNDEFINED', '(00000000-0000-0000-0000-0000)', '{00000000-0000-0000-0000-0000}'];
/** Templates of GLPI (glpi-webhook, 66), SimpleWebhooks (10), hermes-agent (84173), Mailtrain (510) and others. */
// prettier-ignore
const NOT_FILLED_IN = ['##ticket.id##', '{PLAYER_UUID}', '{payment_id}', '[payment_id]', '[[id]]', '%PAYMENT_ID%', '*|PAYMENT_ID|*', '<%= id %>', '#{id}', '@{triggerBody()?["id"]}', '<<payment_id>>', '«Payment_ID»', '{0}', '%1$s', '{field_1}', '__PAYMENT_ID__', '$payment_id', 'YOUR_PAYMENT_ID', 'pay_{id}', 'pay_%PAYMENT_ID%'];
test.each(NOT_FILLED_IN)(
	'the key %j of a template that was not filled in is refused',
	async (key) => {
		const { error } = await run(withKey(key));
		expect(error?.message).toBe(`'Send Once Key' has '${key}' in place of a value [item 0]`);
		expect(requests).toEqual([]);
	},
);

test.each(NO_KEYS)('the key %j of an absent value is refused', async (key) => {
	const { error } = await run(withKey(key));
	expect(error?.message).toBe(`'Send Once Key' has '${key}' in place of a value [item 0]`);
	expect(requests).toEqual([]);
});

test.each([
	'paused',
	'past_due',
	'Past Due',
	'cancelled',
	'incomplete_expired',
	'requires_payment_method',
	'halted',
	'not paid',
	'on_hold',
	'refunded',
	// Of Braintree, PayPal and Stripe (longclaw, 102; restrict-content-pro, 292).
	'card_declined',
	'processor_declined',
	'insufficient_funds',
	'APPROVAL_PENDING',
	'awaiting_payment',
	'requires_source',
	'authentication_required',
	'not_active',
	'voided',
	'charged_back',
	'is_not_paid',
	'pastDue',
	// Errors, and what Chargebee, Paystack and Apple say while they try again.
	'payment_error',
	'errored',
	'failing',
	'payment_due',
	'attention',
	'in_billing_retry_period',
	'no_payment_method',
	'non_payment',
	'unconfirmed',
	'uncaptured',
	'reversed',
	'timed_out',
	'notpaid',
	'PAYMENTFAILED',
	'onhold',
	'active_unpaid',
	'soft_decline',
	'timeout',
	'unauthorised',
	'canceling',
	'no funds, action required',
	'Active (Past Due)',
	'pending_canceled',
	'no_payment_received_action_required',
	'no_payment_method_update_required',
	'no valid card required',
	'no card on file. required',
	false,
	{ state: 'unpaid' },
	[{ code: 'past_due' }],
	// Unlike the specification's `active`, these may not be paid yet: of Stripe, Paddle, PayPal,
	// Adyen, Razorpay, Midtrans, Lemon Squeezy, Mercado Pago and Google.
	'open',
	'ready',
	'APPROVED',
	'PARTIALLY_PAID',
	'RedirectShopper',
	'authenticated',
	'deny',
	'fraudulent',
	'in_process',
	'IN_GRACE_PERIOD',
	'trial_ended',
	'paid_refunded',
	0,
	402,
	{ paid: false },
	{ past_due: true },
	// A person can read these, and looks.
	'active, auto-renew disabled',
	'active - no outstanding balance',
	{ state: 'active' },
	'!paid',
	'paid?',
	'0 paid',
	'paid: 0',
	'active/inactive',
	'active=false',
	'❌ paid',
	'paid_reversed',
	'trial_over',
	'active_dunning',
	// Of Paystack, Razorpay and CyberSource: it has ended. Of Stripe: it may not be paid.
	'completed',
	'complete',
	['active'],
])('a subscription that is %j, as payment providers say, is not confirmed', async (status) => {
	answer = { status };
	const { error } = await run(upgrade);
	const shown = typeof status === 'object' ? JSON.stringify(status) : String(status);
	expect(error?.message).toContain(`its subscription is '${shown}'`);
});

// prettier-ignore
const ARE_PAID = [
	'active', 'ACTIVE', 'activated', 'trialing', 'in_trial', 'on_trial', 'paid', 'succeeded', 'captured', 'settled',
	'no_payment_required', 'non_renewing', 'pending_cancel', 'pending-cancel', 'pending_cancellation', undefined, null, '',
];
test.each(ARE_PAID)('a subscription that is %j is confirmed', async (status) => {
	answer = { status };
	expect((await run(upgrade)).items).toMatchObject([{ billed: true }]);
});

test.each([{ Error: 'declined' }, { 'error-message': 'declined' }, { Error_Code: 'E1' }])(
	'an error beside the data, or in it, is seen in any spelling: %j',
	async (error) => {
		answer = error;
		expect((await run(upgrade)).error?.message).toMatch(/^Outcome unknown: .*reports an error/);
	},
);

// prettier-ignore
const NO_ERRORS = [null, '', 0, false, '0', '00', [], {}, { code: 0, message: '' }, { count: 0, all: [null] }];
test.each(NO_ERRORS)(
	'an error %j, as many services send it with each success, is none',
	async (error) => {
		answer = { error, errors: error, errorMessage: error };
		expect((await run(upgrade)).items).toMatchObject([{ billed: true }]);
	},
);

test('what the service says of billing does not replace what the node knows', async () => {
	answer = { billed: false, preview: true, email: 'A@X.example' };
	const { items } = await run({ ...upgrade, email: 'a@x.example' });
	expect(items).toMatchObject([{ billed: true, email: 'a@x.example' }]);
});

test.each(['email', 'Email'])('a subscription for another %s is not confirmed', async (name) => {
	answer = { [name]: 'other@x.example' };
	const { error } = await run({ ...upgrade, email: 'a@x.example' });
	expect(error?.message).toContain("its subscription is for 'other@x.example'");
});

test('a status in capitals counts, too', async () => {
	answer = { status: 'active', STATUS: 'unpaid' };
	expect((await run(upgrade)).error?.message).toContain("its subscription is 'unpaid'");
});

test('two people whose names differ in ß and ss are two', async () => {
	await run(withKey('pay_1', 'weiß@x.example'));
	expect((await run(withKey('pay_1', 'weiss@x.example'))).error?.message).toContain('used before');
});

test.each([[], {}, null])(
	'an error %j that says nothing is not in the item, which a workflow would take for a failed one',
	async (nothing) => {
		answer = { error: nothing };
		const { items } = await run(upgrade);
		expect(items[0]).toMatchObject({ billed: true });
		expect(items[0]).not.toHaveProperty('error');
	},
);

test('a long key with its accents in two forms is one key', async () => {
	const key = `${'é'.repeat(50)}${'x'.repeat(10_001)}`;
	expect((await run(withKey(key.normalize('NFC')))).items).toMatchObject([{ billed: true }]);
	expect((await run(withKey(key.normalize('NFD')))).items).toMatchObject([{ alreadySent: true }]);
	expect(requests).toHaveLength(1);
});

describe('values', () => {
	const list = (limit: unknown) => ({ ...getUsers, returnAll: false, limit: limit as number });

	test.each([0, -1, '={{ 0 }}', 0.5])('Limit %j is an error', async (limit) => {
		const { error } = await run(list(limit));
		expect(error?.message).toBe("'Limit' must be at least 1 [item 0]");
		expect(requests).toEqual([]);
	});

	test.each(['1.000', '0x10', '1,000', '1e3', 'ten', '={{ 1.5 }}'])(
		'Limit %j, which a spreadsheet or a form writes, is no whole number',
		async (limit) => {
			const { error } = await run(list(limit));
			expect(error?.message).toBe("'Limit' is not a whole number [item 0]");
			expect(requests).toEqual([]);
		},
	);

	test.each(['2', '2.0', '={{ 2 }}'])(
		'Limit %j, as databases and forms write it, is two',
		async (limit) => {
			users = [{ id: 1 }, { id: 2 }, { id: 3 }];
			expect((await run(list(limit))).items).toHaveLength(2);
		},
	);

	test('null in Body Fields stays null', async () => {
		await run({ ...create, userId: byId('1'), ...bodyField('a', '={{ null }}') });
		expect(JSON.parse(requests[0]!.body)).toEqual({ a: null });
	});

	const query = (name: string, value: string) => ({
		...userGet('1'),
		options: { queryParameters: { parameter: [{ name, value }] } },
	});

	test.each(['={{ new Date(0) }}', '={{ DateTime.fromMillis(0).toUTC() }}'])(
		'%s in a query is sent as ISO 8601',
		async (value) => {
			await run(query('since', value));
			expect(decodeURIComponent(sent()[0]!)).toBe('GET /v1/user/1?since=1970-01-01T00:00:00.000Z');
		},
	);

	test.each(['constructor', 'prototype', '__proto__'])(
		'%s, which n8n would drop from a query, is an error',
		async (name) => {
			const { error } = await run(query(name, '1'));
			expect(error?.message).toBe(`'Query Parameters' has an entry named '${name}' [item 0]`);
			expect(requests).toEqual([]);
		},
	);

	const json = (jsonBody: string) => ({ ...getToken, email: '', specifyBody: 'json', jsonBody });

	test('JSON Body may begin with a byte order mark, as a file of Windows does', async () => {
		await run(json('\ufeff{"a": 1}'));
		expect(requests[0]!.body).toBe('{"a":1}');
	});

	test('JSON Body that a quotation mark of an expression breaks says where', async () => {
		const { error } = await run(json('={"title": "{{ \'12" pipe\' }}"}'));
		expect(error?.message).toBe(`'JSON Body' is not valid JSON after '{"title": "12" ' [item 0]`);
		expect(error?.description).toContain('JSON.stringify()');
		expect(requests).toEqual([]);
	});

	test.each(['\n', '\r\n', '\t'])(
		'JSON Body that %j of a resume breaks says to use JSON.stringify() (pipedream, 2922)',
		async (text) => {
			const { error } = await run(json(`={"summary": "a{{ ${JSON.stringify(text)} }}b"}`));
			const message = `'JSON Body' is not valid JSON after '{"summary": "a' [item 0]`;
			expect(error).toMatchObject({
				message,
				description: expect.stringContaining('JSON.stringify()') as string,
			});
		},
	);

	test.each([
		json('{"title": "{{ $json.title }}"}'),
		{ ...getToken, ...bodyField('title', '{{ $json.title }}') },
		{ ...getToken, ...bodyField('title', '$json.title') },
		{ ...getToken, ...bodyField('title', '{{ `${$json.first} ${$json.last}` }}') },
		{ ...getToken, ...bodyField('title', '{{ JSON.stringify({ a: $json.x }) }}') },
		{ ...getToken, ...bodyField('title', 'As of {{ $now.toISO() }}') },
		{ ...getToken, ...bodyField('title', '{{ JSON.stringify($json) }}') },
		{ ...getToken, ...bodyField('title', "{{ $('Überweisung').item.json.email }}") },
		query('title', '{{ $json.title }}'),
	])('an expression in a field that is set to Fixed is not sent (n8n, 18181)', async (one) => {
		const { error } = await run(one);
		expect(error?.message).toMatch(/^'.+' has an expression that n8n did not evaluate/);
		expect(requests).toEqual([]);
	});

	test('braces and dollars of a text are sent', async () => {
		for (const text of [
			'Dear {{name}}',
			'$5 {a}',
			'{{ $labels.instance }}',
			'{{ $t("hello") }}',
			'{{ price | prepend: "$" }}',
			'$input',
			'{{ range $node := .Values.nodes }}',
			'Dear {{name}}, $json.x is no variable',
			`{{ $("#app").text() }}`,
			'={{ "\\u007b\\u007b $json.x" }}',
		]) {
			expect((await run({ ...getToken, ...bodyField('title', text) })).error).toBeUndefined();
		}
	});

	test('JSON Body from a page or a chat names the invisible character that breaks it', async () => {
		for (const [code, character] of [
			['U+00A0', '\u00a0'],
			['U+200B', '\u200b'],
		]) {
			const { error } = await run(json(`{"a":${character} 1}`));
			const message = `'JSON Body' has an invisible character (${code}) after '{"a":' [item 0]`;
			expect(error?.message).toBe(message);
		}
	});

	test.each([bodyField('start', '={{ DateTime.fromISO("x") }}')])(
		'a date that n8n could not read is not sent as text',
		async (parameters) => {
			for (const one of [
				{ ...getToken, ...parameters },
				query('since', '={{ DateTime.fromISO("x") }}'),
			]) {
				const { error } = await run(one);
				expect(error?.message).toContain("'Invalid DateTime' in place of a value");
			}
			expect(requests).toEqual([]);
		},
	);

	// What an expression without a value, JavaScript, Python and a model write.
	test.each([
		['{"a": undefined}', '{"a": '],
		['{"a": [object Object]}', '{"a": ['],
		['{"a": None}', '{"a": '],
		['{"position 3": x}', '{"position 3": '],
		['{"a": 1', '{"a": 1'],
	])('JSON Body %j is not valid after %j', async (body, before) => {
		const { error } = await run(json(body));
		expect(error?.message).toBe(`'JSON Body' is not valid JSON after '${before}' [item 0]`);
	});

	test('JSON Body in the fence of a model is not valid at its start', async () => {
		const { error } = await run(json('```json\n{"a": 1}\n```'));
		expect(error?.message).toBe("'JSON Body' is not valid JSON at its start [item 0]");
	});

	test.each([getToken, { ...getToken, operation: 'connect' }])(
		'a token for nobody is not asked for',
		async (parameters) => {
			const { error } = await run({ ...parameters, email: '' });
			expect(error?.message).toBe('No user is named [item 0]');
			expect(requests).toEqual([]);
		},
	);
});

test('a hint warns of Always Output Data beside an error output', async () => {
	const node = { onError: 'continueErrorOutput', alwaysOutputData: true } as const;
	expect((await run(userGet('1'), { node })).hints).toEqual([
		expect.stringContaining('Always Output Data is on'),
	]);
	const alone = { onError: 'continueErrorOutput' } as const;
	expect((await run(userGet('1'), { node: alone })).hints).toEqual([]);
});
