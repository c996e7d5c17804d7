import { NodeOperationError } from 'n8n-workflow';
import type { ICredentialDataDecryptedObject, ICredentialsDecrypted, INode } from 'n8n-workflow';

import { BASE_URL } from '../../../credentials/ResumeManagementApi.credentials';
import { type Secrets, secretsOf } from '../answer/secrets';

export const CREDENTIAL_TYPE = 'resumeManagementApi';

/** n8n decrypts the credential anew, from its database, for each read. */
export interface Credential {
	/** Without a trailing slash. */
	baseUrl: string;
	/** For `httpRequestWithAuthentication`, which reads it from the database when it is not given. */
	decrypted: ICredentialsDecrypted;
	/** What no item and no error may show. */
	secrets: Secrets;
}

interface CredentialContext {
	getNode(): INode;
	getCredentials(type: string, itemIndex?: number): Promise<ICredentialDataDecryptedObject>;
}

/**
 * Reads and checks the credential.
 * @param itemIndex for which its expressions are evaluated
 * @throws NodeOperationError when the key must not be sent to the base URL, or can't be a key
 */
export async function readCredential(
	context: CredentialContext,
	itemIndex?: number,
): Promise<Credential> {
	const data = await context.getCredentials(CREDENTIAL_TYPE, itemIndex);
	const { baseUrl, privateKey } = data as Record<string, string | undefined>;
	if (!BASE_URL.test(baseUrl ?? '') || !URL.canParse(baseUrl!)) {
		throw new NodeOperationError(context.getNode(), "The credential's Base URL can't be used", {
			description:
				'It must start with https:// (http:// for a service on this machine only) and end in a version, such as https://api.example.com/v1. Nothing was sent.',
		});
	}
	if (!/^[\x21-\x7e]+$/.test(privateKey ?? '')) {
		throw new NodeOperationError(context.getNode(), "The credential's Private Key can't be used", {
			description:
				'It is empty, or holds spaces, line breaks or other characters that a key cannot contain. Paste it again. Nothing was sent.',
		});
	}
	return {
		baseUrl: baseUrl!.replace(/\/+$/, ''),
		decrypted: { id: '', name: CREDENTIAL_TYPE, type: CREDENTIAL_TYPE, data },
		secrets: secretsIn(data),
	};
}

/** For one item after the other, which mostly have the same. */
let latest: { texts: string; secrets: Secrets } | undefined;

function secretsIn(data: ICredentialDataDecryptedObject): Secrets {
	const { privateKey, webhookSecret, olderWebhookSecret } = data;
	const given = [privateKey, webhookSecret, olderWebhookSecret]
		.filter((secret) => typeof secret === 'string')
		// The trigger takes blanks around a webhook secret for a slip.
		.flatMap((secret) => [secret, secret.trim()]);
	const texts = JSON.stringify(given);
	if (latest?.texts !== texts) latest = { texts, secrets: secretsOf(given) };
	return latest.secrets;
}
