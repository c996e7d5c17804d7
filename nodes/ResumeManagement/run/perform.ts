import type { IDataObject } from 'n8n-workflow';

import { hideSecrets } from '../../shared/secrets';
import { requestAnswer } from '../http/answer';
import type { Credential } from '../http/credential';
import { type Unconfirmed, unconfirmedByStatus } from '../http/judge';
import { exchange, type HttpSettings, type Sender } from '../http/send';
import { storeFile } from './file';
import { readList } from './pages';
import type { Answer } from '../output/shape';
import type { Call, Operation } from './call';
import type { Claims } from './claims';
import type { Users } from './users';
import type { Done, Write } from './write';

/** What the items of a run share. */
export interface Run {
	http: HttpSettings;
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
 * @param write where it stands for the item's life as a write
 * @throws Failure
 */
export async function perform(run: Run, call: Call, write?: Write): Promise<Done> {
	if (call.preview) return { call, answer: previewOf(call) };
	if (!write) return { call, answer: await request(run, call) };
	return await write.carryOut(call, async () => {
		if (!call.sendOnceKey) return await request(run, call);
		return await run.claims.sendOnce(call, async () => await request(run, call));
	});
}

async function request(run: Run, call: Call): Promise<Answer> {
	const { credential, output, operation } = call;
	switch (output.kind) {
		case 'record': {
			const unconfirmed = operation.write ? unconfirmedBy(call) : undefined;
			const { body } = await requestAnswer(run.sender, credential, call.request, unconfirmed);
			if (call.hint) run.hint(call.hint);
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

function unconfirmedBy({ operation, request: { body = '{}' } }: Call): Unconfirmed {
	const sent = JSON.parse(body) as IDataObject;
	return (answer) => unconfirmedByStatus(answer) ?? operation.unconfirmed?.(answer, sent, 200);
}

/** What would be sent, without the key. */
function previewOf({ request: { method, path, body }, credential }: Call): Answer {
	const shown = {
		preview: true,
		method,
		path,
		...(body && { body: JSON.parse(body) as IDataObject }),
	};
	return { kind: 'json', json: hideSecrets(shown, credential.secrets) };
}
