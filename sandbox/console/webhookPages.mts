import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { InputError } from '../errors.mts';
import { DEFAULT_HEADERS, ENCODINGS, type Webhook } from '../webhooks/registration.mts';
import type { Webhooks } from '../webhooks/webhooks.mts';
import { readPaging, readRegistration, textOf, type Form } from './forms.mts';
import { CONSOLE_PATH, sendPage } from './views.mts';

const DELIVERIES_ON_A_PAGE = 20;

/** What the page says after a form, by the word in its address. */
const CONFIRMATIONS = new Map([
	['registered', 'Registered. Sections saved from now on are sent to this address.'],
	['removed', 'Removed, with its deliveries.'],
	['redelivered', 'Queued. The same body is sent again.'],
]);

const EMPTY_FORM = {
	url: '',
	style: 'none',
	secret: '',
	headerName: '',
	encoding: ENCODINGS[0],
	prefix: '',
	signTimestamp: '',
	timestampHeader: DEFAULT_HEADERS.timestamp,
};

interface WithId {
	Params: { id: string };
}

/** Registered webhooks, and the deliveries to them. */
export function webhookPages(scope: FastifyInstance, webhooks: Webhooks): void {
	const sendWebhooks = (
		request: FastifyRequest,
		reply: FastifyReply,
		{ form, ...notice }: { form?: Form; problem?: string; confirmation?: string },
	) => {
		const total = webhooks.countDeliveries();
		const paging = readPaging(request, total, DELIVERIES_ON_A_PAGE);
		return sendPage(reply, 'webhooks', {
			title: 'Webhooks',
			...notice,
			form: { ...EMPTY_FORM, ...form },
			defaults: DEFAULT_HEADERS,
			encodings: ENCODINGS,
			webhooks: webhooks.list().map((webhook) => ({ ...webhook, proof: describeProof(webhook) })),
			total,
			paging,
			deliveries: webhooks.deliveryDetails(paging),
			now: Date.now(),
		});
	};
	const confirm = (reply: FastifyReply, done: string) =>
		reply.redirect(`${CONSOLE_PATH}/webhooks?done=${done}`, 303);

	scope.get<{ Querystring: Form }>('/webhooks', (request, reply) =>
		sendWebhooks(request, reply, {
			confirmation: CONFIRMATIONS.get(textOf(request.query, 'done')),
		}),
	);

	scope.post<{ Body?: Form }>('/webhooks', (request, reply) => {
		const form = request.body ?? {};
		try {
			webhooks.register(readRegistration(form));
		} catch (error) {
			if (!(error instanceof InputError)) throw error;
			return sendWebhooks(request, reply.code(400), { form, problem: error.message });
		}
		return confirm(reply, 'registered');
	});

	scope.post<WithId>('/webhooks/:id(^\\d{1,15}$)/remove', (request, reply) => {
		webhooks.remove(Number(request.params.id));
		return confirm(reply, 'removed');
	});

	scope.post<WithId>('/deliveries/:id(^\\d{1,15}$)/redeliver', (request, reply) => {
		webhooks.redeliver(Number(request.params.id));
		return confirm(reply, 'redelivered');
	});
}

/** E.g. `HMAC-SHA256 in X-Webhook-Signature, hex`. */
function describeProof({ style, headerName, encoding, prefix, timestampHeader }: Webhook): string {
	if (style === 'none') return 'No signature';
	if (style === 'header') return `Secret in ${headerName}`;
	if (style === 'standardWebhooks') return 'Standard Webhooks';
	if (style === 'timestampedSignature') return `Time and HMAC-SHA256 in ${headerName}`;
	return [
		`HMAC-SHA256 in ${headerName}`,
		encoding,
		prefix && `prefix ${prefix}`,
		timestampHeader && `timestamp in ${timestampHeader}`,
	]
		.filter(Boolean)
		.join(', ');
}
