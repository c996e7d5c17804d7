import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { VerificationSettings } from '../../nodes/ResumeManagementTrigger/verify.ts';

interface Way {
	parameters: { verification: string; [name: string]: string };
	/** Returns the headers of a genuine request, the secret or signature last. */
	prove(secret: string, body: string, seconds: number): Record<string, string>;
}

export const sign = (text: string | Buffer, secret: string, encoding: 'hex' | 'base64' = 'hex') =>
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

export const settingsOf = (way: string, webhookSecrets: string[]) =>
	({
		headerName: '',
		signatureEncoding: 'hex',
		signaturePrefix: '',
		...ways[way]!.parameters,
		webhookSecrets,
	}) as VerificationSettings;
