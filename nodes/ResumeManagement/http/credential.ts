import type { ICredentialDataDecryptedObject, ICredentialsDecrypted, Workflow } from 'n8n-workflow';

import { BASE_URL } from '../../../credentials/ResumeManagementApi.credentials';
import { type Secrets, secretsOf } from '../../shared/secrets';
import { Failure } from '../../shared/failure';

export const CREDENTIAL_TYPE = 'resumeManagementApi';

export interface Credential {
	/** Without a trailing slash. */
	baseUrl: string;
	privateKey: string;
	/** For `httpRequestWithAuthentication`, which reads it from the database when it is not given. */
	decrypted: ICredentialsDecrypted;
	/** What no item and no error may show. */
	secrets: Secrets;
}

/** n8n's context of a run, or of one item. */
interface Context {
	getCredentials(type: string, itemIndex?: number): Promise<ICredentialDataDecryptedObject>;
	/** Not in n8n's types; see {@link readFixed}. */
	workflow?: Workflow;
}

type GetParameterValue = Workflow['expression']['getParameterValue'];

/**
 * Reads the credential for each item. n8n loads and decrypts it again for each read, which is needed only
 * where one of its fields is an expression: it may differ from item to item.
 */
export class Credentials {
	private fixed?: Promise<Credential | undefined>;

	/** By their decrypted data: checking it and compiling its secrets costs as much as reading it. */
	private readonly known = new Map<string, Credential>();

	constructor(private readonly context: Context) {}

	/**
	 * @param itemIndex for which its expressions are evaluated
	 * @throws Failure when the key must not be sent to the base URL, or can't be a key; what n8n throws
	 */
	async read(itemIndex: number): Promise<Credential> {
		this.fixed ??= readFixed(this.context, itemIndex);
		return (await this.fixed) ?? (await this.readFor(itemIndex));
	}

	private async readFor(itemIndex: number): Promise<Credential> {
		const data = await this.context.getCredentials(CREDENTIAL_TYPE, itemIndex);
		const text = JSON.stringify(data);
		const credential = this.known.get(text) ?? toCredential(data);
		this.known.set(text, credential);
		return credential;
	}
}

/**
 * Reads it once, for a context of one item.
 * @throws Failure, or what n8n throws
 */
export async function readCredential(context: Context): Promise<Credential> {
	return toCredential(await context.getCredentials(CREDENTIAL_TYPE));
}

/**
 * The credential, where it is proved to be the same for each item. n8n hands what it has decrypted, with
 * the overwrites applied, to one call of `getParameterValue` of the workflow that it takes from the context
 * (n8n-core's node-execution-context.ts and n8n's credentials-helper.ts, in n8n 1 and 2). So it is read by
 * way of a workflow that notes this call: without any text that is an expression, and with nothing changed
 * before or after, nothing of an item was in it.
 * @returns undefined wherever the proof fails, whatever the reason
 */
async function readFixed(context: Context, itemIndex: number): Promise<Credential | undefined> {
	const { workflow } = context;
	if (!workflow) return undefined;
	const { expression } = workflow;
	const calls: Array<{ given: string; result: string }> = [];
	const noting: GetParameterValue = (...values) => {
		const given = JSON.stringify(values[0]);
		const result = expression.getParameterValue(...values);
		calls.push({ given, result: JSON.stringify(result) });
		return result;
	};
	const observed = Object.create(context, {
		workflow: {
			value: Object.create(workflow, { expression: { value: { getParameterValue: noting } } }),
		},
	}) as Context;
	try {
		const data = await observed.getCredentials(CREDENTIAL_TYPE, itemIndex);
		const [call, ...others] = calls;
		const isUnchanged = call?.given === call?.result && call?.given === JSON.stringify(data);
		if (!call || others.length > 0 || !isUnchanged || holdsExpression(data)) return undefined;
		return toCredential(data);
	} catch {
		return undefined;
	}
}

function holdsExpression(value: unknown): boolean {
	if (typeof value === 'string') return value.startsWith('=');
	return typeof value === 'object' && value !== null && Object.values(value).some(holdsExpression);
}

function toCredential(data: ICredentialDataDecryptedObject): Credential {
	const { baseUrl, privateKey, webhookSecret, olderWebhookSecret } = data;
	if (typeof baseUrl !== 'string' || !BASE_URL.test(baseUrl) || !URL.canParse(baseUrl)) {
		throw new Failure('credential.baseUrl', {}, NOT_SENT);
	}
	if (typeof privateKey !== 'string' || !/^[\x21-\x7e]+$/.test(privateKey)) {
		throw new Failure('credential.privateKey', {}, NOT_SENT);
	}
	return {
		baseUrl: baseUrl.replace(/\/+$/, ''),
		privateKey,
		decrypted: { id: '', name: CREDENTIAL_TYPE, type: CREDENTIAL_TYPE, data },
		secrets: secretsOf([privateKey, webhookSecret, olderWebhookSecret]),
	};
}

const NOT_SENT = { isSetting: true, mayHaveHappened: false } as const;
