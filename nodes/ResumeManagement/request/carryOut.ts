import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { hideSecrets } from '../answer/secrets';
import { withRetries } from './attempts';
import { type ClaimContext, sendOnce } from './claims';
import type { Credential } from './credential';
import { type Exchange, exchangeOnce, type Sender } from './exchange';
import type { PreparedItem } from './item';
import type { Operation, PathValues, UserByEmail } from './operation';
import { fillPath } from './path';
import type { Outgoing } from './send';
import type { Users } from './users';
import type { Write } from './write';

/** What all items of a run share. */
export interface Run extends Sender {
	operation: Operation;
	users: Users;
	/** What n8n's editor shows above the output, each once for all items. */
	hints: Set<string>;
}

/**
 * Brings an item to where nothing is left to do but its own request, or what it repeats.
 * @returns what brings it to its end, and throws a Failure where that is none
 * @throws Failure; what the item asks for was not sent then
 */
export async function getReady(
	run: Run,
	credential: Credential,
	item: PreparedItem,
): Promise<(write?: Write) => Promise<INodeExecutionData[]>> {
	const { operation, signal } = run;
	if (item.preview) return async () => [previewOf(operation, item, credential)];
	const hint = (message: string) => void run.hints.add(message);
	const exchangeFor =
		(asked: Operation, path?: Outgoing['path']): Exchange =>
		async (message, read) => {
			const attempts = { retries: item.retries, write: !!asked.write, signal };
			const outgoing = { ...message, path };
			return await withRetries(
				attempts,
				async () => await exchangeOnce(run, credential, asked, outgoing, read),
			);
		};
	const idOf = async (user: UserByEmail) =>
		await run.users.idOf(user, credential, exchangeFor(user.list.operation), hint);
	const path = await resolved(item.path, idOf);
	const exchange = exchangeFor(operation, path);
	const request = async () => await item.request(exchange, hint);
	const { sendOnceKey: key, message } = item;
	// What an item chooses itself keeps its key apart, too.
	const claimed = message.method
		? `${message.method} ${fillPath(operation.path, path)}`
		: operation.path;
	return async (write) => {
		if (!write) return await request();
		return await write.carryOut(async () =>
			key
				? await sendOnce(
						run.context as ClaimContext,
						{ operation: claimed, key, signal },
						hint,
						request,
					)
				: await request(),
		);
	};
}

/** What would be sent, without the key. */
function previewOf(
	{ method, path }: Operation,
	{ message }: PreparedItem,
	{ secrets }: Credential,
): INodeExecutionData {
	const body = message.body && (JSON.parse(message.body) as IDataObject);
	const shown = { preview: true, method, path, ...(body && { body }) };
	const text = JSON.stringify(shown);
	return { json: hideSecrets(shown, text, secrets) as IDataObject };
}

async function resolved(
	path: PathValues,
	idOf: (user: UserByEmail) => Promise<string>,
): Promise<Outgoing['path']> {
	const values = Object.entries(path).map(async ([name, value]) => [
		name,
		typeof value === 'string' ? value : await idOf(value),
	]);
	return Object.fromEntries(await Promise.all(values)) as Outgoing['path'];
}
