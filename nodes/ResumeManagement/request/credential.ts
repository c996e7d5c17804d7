import { NodeOperationError } from 'n8n-workflow';
import type { ICredentialDataDecryptedObject, ICredentialsDecrypted, INode } from 'n8n-workflow';

import { BASE_URL } from '../../../credentials/ResumeManagementApi.credentials';
import { formsOf } from '../answer/secrets';

export const CREDENTIAL_TYPE = 'resumeManagementApi';

/** n8n decrypts the credential anew, from its database, for each read. */
export interface Credential {
	/** Without a trailing slash. */
	baseUrl: string;
	/** For `httpRequestWithAuthentication`, which reads it from the database when it is not given. */
	decrypted: ICredentialsDecrypted;
	/** What no item and no error may show: see `formsOf`. */
	secrets: string[];
}

interface CredentialContext {
	getNode(): INode;
	getCredentials(type: string, itemIndex?: number): Promise<ICredentialDataDecryptedObject>;
}

/** Reads the credential of an item. */
export type ReadCredential = (itemIndex: number) => Promise<Credential>;

/**
 * Reads the credential once for all items, or for each of them where one of its fields is an expression
 * that depends on the item. Such an expression fails for an item that does not exist, which tells it.
 * @param count of the items
 */
export async function credentialReader(
	context: CredentialContext,
	count: number,
): Promise<ReadCredential> {
	const read = async (itemIndex: number) => await readCredential(context, itemIndex);
	if (count < 2) return read;
	const [first, beyond] = await Promise.allSettled([read(0), read(count)]);
	if (first.status === 'rejected' || beyond.status === 'rejected') return read;
	const data = [first, beyond].map(({ value }) => JSON.stringify(value.decrypted.data));
	return data[0] === data[1] ? async () => first.value : read;
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
	const { baseUrl, privateKey, webhookSecret } = data as Record<string, string | undefined>;
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
		secrets: formsOf([privateKey, webhookSecret].filter((secret) => typeof secret === 'string')),
	};
}
