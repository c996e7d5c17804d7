import { hideSecrets } from '../../shared/secrets';
import { requestAnswer } from '../http/answer';
import type { Credential } from '../http/credential';
import { type AnswerBody, unconfirmedByStatus } from '../http/judge';
import { exchange, type Sender } from '../http/send';
import type { Answer } from '../output/items';
import type { Call, Operation } from './call';
import type { Claims } from './claims';
import { storeFile } from './file';
import { readList } from './pages';
import type { Users } from './users';
import type { Write } from './write';

/** What the items of a run share. */
export interface Run {
	operation: Operation;
	sender: Sender;
	credentials: { read(itemIndex: number): Promise<Credential> };
	users: Users;
	claims: Claims;
	/** Tells the user something once for all items, above the output in n8n's editor. */
	hint(message: string): void;
}

/**
 * Does what an item asks for: the stage that talks to the service.
 * @param write the item's entry in the journal; undefined for reads
 * @throws Failure
 */
export async function perform(run: Run, call: Call, write?: Write): Promise<Answer> {
	if (call.preview) return await preview(run, call);
	if (!write) return await request(run, call);
	return await write.send(async () => {
		if (!call.sendOnceKey) return await request(run, call);
		return await run.claims.sendOnce(call, async () => await request(run, call));
	});
}

async function request(run: Run, call: Call): Promise<Answer> {
	const { credential, output } = call;
	switch (output.kind) {
		case 'record': {
			const { body } = await requestAnswer(run.sender, credential, call.request, (answer) =>
				unconfirmed(answer, call),
			);
			return { kind: 'record', body, settings: output };
		}
		case 'list': {
			const list = await readList(output.pagination, output, async (page) => {
				const query = { ...call.request.query, ...page };
				return await requestAnswer(run.sender, credential, { ...call.request, query });
			});
			if (list.hint) run.hint(list.hint);
			return { kind: 'list', list, settings: output };
		}
		case 'file':
			return await exchange(run.sender, credential, call.request, async (received, connection) => ({
				kind: 'json',
				...(await storeFile(received, output, connection)),
			}));
	}
}

/** Says why an answer does not confirm a write. Secrets are hidden in the answer, so they are in what was sent. */
function unconfirmed(answer: AnswerBody, { operation, body = {}, credential }: Call) {
	if (!operation.write) return undefined;
	const sent = hideSecrets(body, credential.secrets);
	return unconfirmedByStatus(answer) ?? operation.unconfirmed?.(answer, sent);
}

/** Returns what would be sent, without the key. */
async function preview({ claims }: Run, call: Call): Promise<Answer> {
	const { request, body, credential, sendOnceKey } = call;
	if (sendOnceKey) await claims.check();
	const { method, path } = request;
	const json = { preview: true, method, path, ...(body && { body }) };
	return { kind: 'json', json: hideSecrets(json, credential.secrets) };
}
