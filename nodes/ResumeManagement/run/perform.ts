import { hideSecrets } from '../../shared/secrets';
import { requestJson } from '../http/response';
import type { Credential } from '../http/credential';
import { type JsonBody, checkStatus } from '../http/judge';
import { exchange, type Sender } from '../http/send';
import type { Result } from '../output/items';
import type { Operation } from '../operations/operation';
import type { Call } from './call';
import type { Claims } from './claims';
import { storeFile } from './file';
import { readList } from './pages';
import type { Users } from './users';
import type { Write } from './write';

/** A run of the node: everything that its items share. */
export interface Run {
	operation: Operation;
	sender: Sender;
	credentials: { read(itemIndex: number): Promise<Credential> };
	users: Users;
	claims: Claims;
	/** Shows a message above the output in n8n's editor, once for all items. */
	hint(message: string): void;
}

/**
 * Sends the requests of an item, or returns a preview of them.
 * @param write the item's entry in the journal; undefined for reads
 * @throws Failure
 */
export async function perform(run: Run, call: Call, write?: Write): Promise<Result> {
	if (call.preview) return await preview(run, call);
	if (!write) return await requestResult(run, call);
	return await write.send(async () => {
		if (!call.sendOnceKey) return await requestResult(run, call);
		return await run.claims.sendOnce(call, async () => await requestResult(run, call));
	});
}

async function requestResult(run: Run, call: Call): Promise<Result> {
	const { credential, output } = call;
	switch (output.kind) {
		case 'record': {
			const { body } = await requestJson(run.sender, credential, call.request, (body) =>
				checkWrite(body, call),
			);
			return { kind: 'record', body, settings: output };
		}
		case 'list': {
			const list = await readList(output.pagination, output, async (page) => {
				const query = { ...call.request.query, ...page };
				return await requestJson(run.sender, credential, { ...call.request, query });
			});
			if (list.hint) run.hint(list.hint);
			return { kind: 'list', list, settings: output };
		}
		case 'file':
			return await exchange(run.sender, credential, call.request, async (response, connection) => ({
				kind: 'json',
				...(await storeFile(response, output, connection)),
			}));
	}
}

/** Returns why a response does not confirm the write of a call; undefined if it does, and for reads. */
function checkWrite(response: JsonBody, { operation, body = {} }: Call): string | undefined {
	if (!operation.write) return undefined;
	return checkStatus(response) ?? operation.checkConfirmation?.(response, body);
}

/** Returns what would be sent, without the key. */
async function preview({ claims }: Run, call: Call): Promise<Result> {
	const { request, body, credential, sendOnceKey } = call;
	if (sendOnceKey) await claims.checkRows();
	const { method, path } = request;
	const json = { preview: true, method, path, ...(body && { body }) };
	return { kind: 'json', json: hideSecrets(json, credential.secrets) };
}
