/** How a sender proves each way that the trigger can verify. */
import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

import type { Verification } from '../../nodes/ResumeManagementTrigger/verify.ts';

export interface Way {
	/** Of the trigger. */
	parameters: {
		verification: 'header' | 'hmac' | 'standardWebhooks';
		headerName?: string;
		signatureEncoding?: 'hex' | 'base64';
		signaturePrefix?: string;
	};
	/** The headers of a genuine request, the secret or signature last. */
	prove(secret: string, body: string, seconds: number): Record<string, string>;
}

export const sign = (text: string, secret: string, encoding: 'hex' | 'base64' = 'hex') =>
	createHmac('sha256', secret).update(text).digest(encoding);

const headerName = 'X-Proof';
export const ways: Record<string, Way> = {
	header: {
		parameters: { verification: 'header', headerName },
		prove: (secret) => ({ 'x-proof': secret }),
	},
	hmac: {
		parameters: { verification: 'hmac', headerName, signaturePrefix: 'sha256=' },
		prove: (secret, body) => ({ 'x-proof': `sha256=${sign(body, secret)}` }),
	},
	'hmac in base64': {
		parameters: { verification: 'hmac', headerName, signatureEncoding: 'base64' },
		prove: (secret, body) => ({ 'x-proof': sign(body, secret, 'base64') }),
	},
	standardWebhooks: {
		parameters: { verification: 'standardWebhooks' },
		prove: (secret, body, seconds) => ({
			'webhook-id': 'msg_1',
			'webhook-timestamp': String(seconds),
			'webhook-signature': new Webhook(secret).sign('msg_1', new Date(seconds * 1000), body),
		}),
	},
};

/** What the trigger reads of its fields for a way; without one, it verifies nothing. */
export const settingsOf = (way: string | undefined, webhookSecrets: string[]): Verification => ({
	...{ verification: 'none', headerName: '', signatureEncoding: 'hex', signaturePrefix: '' },
	webhookSecrets,
	...(way && ways[way]!.parameters),
});
