import type { ICredentialDataDecryptedObject, ICredentialsDecrypted } from 'n8n-workflow';

import { BASE_URL, privateKeyOf } from '../../credentials/ResumeManagementApi.credentials';
import { Failure, isErrorOfN8n } from './failure';
import { type Secrets, secretsOf } from './secrets';
import { type CredentialContext, readSharedCredential } from './sharedCredential';

export const CREDENTIAL_TYPE = 'resumeManagementApi';

export interface Credential {
	/** Without a trailing slash. */
	baseUrl: string;
	/**
	 * With the base URL, identifies the account: the credential's ID in n8n, so that a new private key is the same account.
	 * The private key if n8n gives no ID, or if the credential may differ between items.
	 */
	account: { id: string } | { privateKey: string };
	/** For `httpRequestWithAuthentication`, which otherwise reads the credential from the database. */
	decrypted: ICredentialsDecrypted;
	/** Must not be shown. */
	secrets: Secrets;
}

/** Reads the credential for each item, but only once if it is the same for all of them. */
export class Credentials {
	private shared?: Promise<Credential | undefined>;

	constructor(private readonly context: CredentialContext) {}

	/** @throws Failure if the key must not be sent to the base URL, or can't be a key; n8n's own errors */
	async read(itemIndex: number): Promise<Credential> {
		this.shared ??= this.readShared(itemIndex);
		// A failed read fails one item: each other item that waited for it reads once more.
		const readAgain = async () => await (this.shared = this.readShared(itemIndex));
		const shared = await this.shared.catch(readAgain);
		return shared ?? (await readCredential(this.context, itemIndex));
	}

	private async readShared(itemIndex: number): Promise<Credential | undefined> {
		const data = await orUnreadable(async () => {
			return await readSharedCredential(this.context, CREDENTIAL_TYPE, itemIndex);
		});
		const { id } = this.context.getNode().credentials?.[CREDENTIAL_TYPE] ?? {};
		return data && toCredential(data, id ?? undefined);
	}
}

/** @throws Failure; n8n's own errors */
export async function readCredential(
	context: CredentialContext,
	itemIndex?: number,
): Promise<Credential> {
	return toCredential(await readCredentialData(context, itemIndex));
}

/** @throws Failure; n8n's own errors */
export async function readCredentialData(
	context: Pick<CredentialContext, 'getCredentials'>,
	itemIndex?: number,
): Promise<ICredentialDataDecryptedObject> {
	return await orUnreadable(async () => await context.getCredentials(CREDENTIAL_TYPE, itemIndex));
}

/** Replaces an error that is not n8n's: its text may contain a secret. */
async function orUnreadable<T>(read: () => Promise<T>): Promise<T> {
	try {
		return await read();
	} catch (error) {
		throw isErrorOfN8n(error) ? error : new Failure('credential.unreadable');
	}
}

/** Characters of a key: Node.js takes no more in the headers of a request. */
const LONGEST_KEY = 16_384;

function toCredential(data: ICredentialDataDecryptedObject, id?: string): Credential {
	const { baseUrl, webhookSecret, olderWebhookSecret } = data;
	const privateKey = privateKeyOf(data.privateKey);
	if (typeof baseUrl !== 'string' || !BASE_URL.test(baseUrl) || !URL.canParse(baseUrl)) {
		throw new Failure('credential.baseUrl');
	}
	const isKey = privateKey !== '' && privateKey.length <= LONGEST_KEY;
	if (!isKey) throw new Failure('credential.privateKey');
	return {
		baseUrl: baseUrl.replace(/\/+$/, ''),
		account: id ? { id } : { privateKey },
		decrypted: { id: '', name: CREDENTIAL_TYPE, type: CREDENTIAL_TYPE, data },
		secrets: secretsOf([privateKey, webhookSecret, olderWebhookSecret]),
	};
}
