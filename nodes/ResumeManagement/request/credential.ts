import { NodeOperationError } from 'n8n-workflow';
import type { ICredentialDataDecryptedObject, ICredentialsDecrypted, INode } from 'n8n-workflow';

import { BASE_URL } from '../../../credentials/ResumeManagementApi.credentials';

export const CREDENTIAL_TYPE = 'resumeManagementApi';

/** The credential of a run, read once: n8n decrypts it anew, from its database, for each read. */
export interface Credential {
	/** Without a trailing slash. */
	baseUrl: string;
	/** For `httpRequestWithAuthentication`, which reads it from the database when it is not given. */
	decrypted: ICredentialsDecrypted;
	/** What no error may show. */
	secrets: string[];
}

interface CredentialContext {
	getNode(): INode;
	getCredentials(type: string): Promise<ICredentialDataDecryptedObject>;
}

/**
 * Reads and checks the credential.
 * @throws NodeOperationError when the key must not be sent to the base URL, or can't be a key
 */
export async function readCredential(context: CredentialContext): Promise<Credential> {
	const data = await context.getCredentials(CREDENTIAL_TYPE);
	const { baseUrl, privateKey, webhookSecret } = data as Record<string, string | undefined>;
	if (!BASE_URL.test(baseUrl ?? '')) {
		throw new NodeOperationError(context.getNode(), "The credential's Base URL can't be used", {
			description:
				'It must start with https:// (http:// for a service on this machine only) and end in a version, such as https://api.example.com/v1. Nothing was sent.',
		});
	}
	if (!/^[\x21-\x7e]+$/.test(privateKey ?? '')) {
		throw new NodeOperationError(context.getNode(), "The credential's Private Key can't be used", {
			description:
				'It is empty, or holds spaces, line breaks or other characters that a key has not. Paste it again. Nothing was sent.',
		});
	}
	return {
		baseUrl: baseUrl!.replace(/\/+$/, ''),
		decrypted: { id: '', name: CREDENTIAL_TYPE, type: CREDENTIAL_TYPE, data },
		secrets: [privateKey, webhookSecret].filter((secret): secret is string => !!secret),
	};
}
