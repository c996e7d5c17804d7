import { createHash } from 'node:crypto';

import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { Failure } from '../answer/failure';
import { pause } from './pause';

/** Milliseconds to wait for another execution that is sending the same key. */
const PATIENCE = 10_000;

/** Milliseconds between two looks at its claim. */
const LOOK_INTERVAL = 250;

/** What n8n's helpers keep of a key: one list of values, `data` of a row of `processed_data`. */
const OPTIONS = { mode: 'entries' } as const;

type Helpers = IExecuteFunctions['helpers'];

/** n8n's context of a run, as far as its deduplication helpers go. */
export interface ClaimContext {
	helpers: Partial<
		Pick<
			Helpers,
			| 'checkProcessedAndRecord'
			| 'removeProcessed'
			| 'clearAllProcessedItems'
			| 'getProcessedDataCount'
		>
	>;
	getExecuteData(): { node: { id: string } };
}

/**
 * Sends what a key stands for unless this workflow has sent it before, in whatever execution. The key
 * is claimed in n8n's database before it is sent. The claim is released only when the service certainly
 * did nothing: so a process that is killed in between leaves the key claimed, and the outcome unknown.
 * @param operation keeps keys of different operations apart
 * @param hint tells the user what could not be noted
 * @returns what `send` returns, or one item with `alreadySent: true`
 * @throws Failure, also when the key could not be claimed; nothing was sent then
 */
export async function sendOnce(
	context: ClaimContext,
	{ operation, key, signal }: { operation: string; key: string; signal?: AbortSignal },
	hint: (message: string) => void,
	send: () => Promise<INodeExecutionData[]>,
): Promise<INodeExecutionData[]> {
	const claim = new Claim(context, operation, key);
	if ((await settledOrMine(claim, signal)) === 'done') {
		return [{ json: { alreadySent: true, sendOnceKey: key, outcome: 'succeeded' } }];
	}
	const items = await send().catch(async (error: unknown) => {
		const didNothing = error instanceof Failure && !error.mayHaveHappened && !error.held;
		if (didNothing) await claim.release().catch(() => hint(NOT_RELEASED));
		throw error;
	});
	await claim.settle().catch(() => hint(NOT_NOTED));
	return items;
}

const NOT_RELEASED =
	'A Send Once Key could not be released, although nothing was sent for it. The node will not send it again.';

const NOT_NOTED =
	'The success of a Send Once Key could not be stored. The node will not send it again, and will report its outcome as unknown.';

/** Claims the key, or waits until the execution that has it is done or has released it. */
async function settledOrMine(claim: Claim, signal?: AbortSignal): Promise<'mine' | 'done'> {
	const end = Date.now() + PATIENCE;
	let state = await claim.take();
	while (state === 'taken') {
		if (Date.now() >= end || signal?.aborted) throw UNSETTLED;
		await pause(LOOK_INTERVAL, signal);
		state = await claim.take();
	}
	return state;
}

const UNSETTLED = new Failure(
	'Another execution has claimed this key, and no success is stored for it',
	'That execution is still running, was ended before the answer came, or got an answer that leaves the outcome open.',
);

/**
 * One key's row in n8n's database. n8n's helpers keep all that a node has processed in one row, which
 * they read, change and write back: two executions at once can both find a key new. Only the INSERT of
 * a row decides. So each key gets a row of its own, by way of the node's ID, of which n8n makes the
 * row's name before it first waits (n8n/src/deduplication/deduplication-helper.ts).
 */
class Claim {
	private readonly row: string;

	constructor(
		private readonly context: ClaimContext,
		operation: string,
		key: string,
	) {
		const hash = createHash('sha256')
			.update(JSON.stringify([operation, key]))
			.digest('hex');
		this.row = `resumeManagement:${hash}`;
	}

	/** @throws Failure when n8n can't keep the claim */
	async take(): Promise<'mine' | 'taken' | 'done'> {
		try {
			// The helper that records also writes a row back that it finds, maybe as it was a moment ago.
			const before = await this.look();
			if (before !== 'free') return before;
			// Where another execution inserts the row first, the database refuses this insertion.
			const isNew = await this.record('sent').catch(() => false);
			const after = await this.look();
			if (isNew && after === 'taken') return 'mine';
			if (!isNew && after !== 'free') return after;
			// Other keys are in the row: n8n has not taken the name that was given to it. Never so that
			// the row is left empty, since then no INSERT would decide any more.
			if (isNew && after === 'done') await this.forget('sent');
		} catch {
			// What n8n's database could not do is no reason to send without a claim.
		}
		throw NOT_CLAIMED;
	}

	private async look(): Promise<'taken' | 'done' | 'free'> {
		return stateOf(await this.count());
	}

	async settle(): Promise<void> {
		// Another execution that looks at the claim at this moment may write it back as it was.
		for (let tries = 0; tries < 3 && (await this.count()) < 2; tries++) await this.record('done');
	}

	async release(): Promise<void> {
		await this.call(({ clearAllProcessedItems }) => clearAllProcessedItems?.('node', OPTIONS));
	}

	private async count(): Promise<number> {
		return await this.call(({ getProcessedDataCount }) => getProcessedDataCount?.('node', OPTIONS));
	}

	/** Whether the value was not there yet. */
	private async record(value: string): Promise<boolean> {
		const { new: added } = await this.call(({ checkProcessedAndRecord }) =>
			checkProcessedAndRecord?.([this.valueOf(value)], 'node', OPTIONS),
		);
		return added.length > 0;
	}

	private async forget(value: string): Promise<void> {
		await this.call(({ removeProcessed }) =>
			removeProcessed?.([this.valueOf(value)], 'node', OPTIONS),
		);
	}

	private valueOf(value: string): string {
		return `${this.row}:${value}`;
	}

	private async call<T>(
		helper: (helpers: ClaimContext['helpers']) => Promise<T> | undefined,
	): Promise<T> {
		const { node } = this.context.getExecuteData();
		const { id } = node;
		node.id = this.row;
		let result: Promise<T> | undefined;
		try {
			result = helper(this.context.helpers);
		} finally {
			node.id = id;
		}
		if (!result) throw NOT_CLAIMED;
		return await result;
	}
}

/** @param count of the values in a key's row: `sent`, and then `done` */
function stateOf(count: number): 'taken' | 'done' | 'free' {
	if (count === 0) return 'free';
	return count === 1 ? 'taken' : 'done';
}

const NOT_CLAIMED = new Failure(
	'The key could not be claimed, so nothing was sent',
	'Send Once Key needs a saved workflow and a database of n8n that can be written. It does not work in a tool, nor where n8n runs single nodes.',
	{ mayHaveHappened: false },
);
