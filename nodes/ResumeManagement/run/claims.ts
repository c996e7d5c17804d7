import { createHash } from 'node:crypto';

import type { IExecuteFunctions } from 'n8n-workflow';

import { Failure } from '../../shared/failure';
import { pause } from '../../shared/pause';
import type { Answer } from '../output/shape';
import type { Call } from './call';

/** Milliseconds that a run waits in total for other executions that are sending its keys. */
const PATIENCE = 10_000;

/** Milliseconds between two checks of a claim. */
const LOOK_INTERVAL = 250;

/** Has n8n's helpers keep a list of values, as `data` in a row of `processed_data`. */
const OPTIONS = { mode: 'entries' } as const;

/** n8n's context of a run, as far as its deduplication helpers go: tools don't have these. */
export interface ClaimContext {
	helpers: Partial<
		Pick<
			IExecuteFunctions['helpers'],
			| 'checkProcessedAndRecord'
			| 'removeProcessed'
			| 'clearAllProcessedItems'
			| 'getProcessedDataCount'
		>
	>;
	getExecuteData(): { node: { id: string } };
}

/**
 * Sends what a key stands for unless this workflow has sent the key before, in whatever execution and by
 * whatever node. Claim and success are two things:
 *
 * - The claim is of the key alone. Only the execution that inserts it into n8n's database sends. It is
 *   released only when the service certainly did nothing, so a killed process leaves the key claimed.
 * - The success is of key, account and request. It is stored when the service has confirmed it, and only
 *   this very request is answered by it.
 */
export class Claims {
	private waitsUntil?: number;

	/** The keys that this run has claimed: none of these was claimed before, as Send Unsettled Keys Again means. */
	private readonly claimed = new Set<string>();

	constructor(
		private readonly context: ClaimContext,
		private readonly hint: (message: string) => void,
		private readonly cancelled?: AbortSignal,
	) {}

	/**
	 * @returns what `send` returns, or that it was sent before
	 * @throws Failure, also when the key could not be claimed or is another request's; nothing was sent then
	 */
	async sendOnce(call: Call, send: () => Promise<Answer>): Promise<Answer> {
		const { sendOnceKey = '' } = call;
		const rows = new Rows(this.context, call);
		const sendAgain = call.sendUnsettledAgain === true && !this.claimed.has(sendOnceKey);
		const number = await this.claim(rows, sendAgain).catch((error: unknown) => {
			// Where n8n's database fails, nothing is sent without a claim.
			throw error instanceof Failure ? error : notClaimed();
		});
		if (number === undefined) {
			return { kind: 'json', json: { alreadySent: true, sendOnceKey, outcome: 'succeeded' } };
		}
		this.claimed.add(sendOnceKey);
		// Stored while the request is on its way. If it is missing, a later error is only less exact.
		const described = rows.describe(number).catch(() => {});
		const answer = await send().catch(async (error: unknown) => {
			await described;
			await this.giveUp(rows, number, error);
			throw error;
		});
		await described;
		await rows.add(rows.success).catch(() => this.hint(NOT_NOTED));
		return answer;
	}

	/** Releases the claim of what certainly was not done; whatever else it is, the claim stays. */
	private async giveUp(rows: Rows, number: number, error: unknown): Promise<void> {
		if (!(error instanceof Failure) || error.mayHaveHappened) return;
		if (error.facts.onHold) await rows.add(rows.held(number)).catch(() => {});
		else await rows.release(number).catch(() => this.hint(NOT_RELEASED));
	}

	/**
	 * Claims the key, or waits for the execution that has claimed it.
	 * @returns the number of the claim; undefined where this very request has succeeded before
	 * @throws Failure that says why it is neither
	 */
	private async claim(rows: Rows, sendAgain: boolean): Promise<number | undefined> {
		let first: number | undefined;
		for (;;) {
			// Before any claim is made: that of the success may have been released.
			if (await rows.has(rows.success)) return undefined;
			const taken = await rows.claims();
			if (taken === 0 && (await rows.take(0))) return 0;
			first ??= taken;
			if (await rows.isOfAnother(taken - 1)) {
				throw new Failure('key.otherRequest', {}, { mayHaveHappened: false });
			}
			const isHeld = await rows.has(rows.held(taken - 1));
			this.waitsUntil ??= Date.now() + PATIENCE;
			if (isHeld || Date.now() >= this.waitsUntil || this.cancelled?.aborted) {
				// Where several executions find the same claims, only one adds the next.
				if (sendAgain && first > 0 && (await rows.take(first))) return first;
				if (isHeld) throw new Failure('key.held', {}, { onHold: true, mayHaveHappened: false });
				throw new Failure('key.unsettled');
			}
			await pause(LOOK_INTERVAL, this.cancelled);
		}
	}
}

const NOT_RELEASED =
	'A Send Once Key could not be released, although nothing was done for it. The node will not send it again.';

const NOT_NOTED =
	'The success of a Send Once Key could not be stored. The node will not send it again, and will report its outcome as unknown.';

/**
 * What n8n's database holds of one key. n8n's helpers keep all that a node has processed in one row, which
 * they read, change and write back: two executions at once can both find a key new. Only the INSERT of
 * a row decides. So each fact gets a row of its own, by way of the node's ID, of which n8n makes the
 * row's name before it first waits (n8n/src/deduplication/deduplication-helper.ts).
 */
class Rows {
	private readonly key?: string;

	/** What tells this request from others; also its operation, as what confirms a success differs. */
	private readonly request: string;

	readonly success: string;

	constructor(
		private readonly context: ClaimContext,
		{ credential, operation, request, sendOnceKey }: Call,
	) {
		this.key = sendOnceKey;
		const { method, path, query = {}, body = '' } = request;
		const { baseUrl, privateKey } = credential;
		const parts = [baseUrl, privateKey, operation.path, method, path, query, body];
		this.request = JSON.stringify(parts);
		this.success = this.name('success', this.request);
	}

	/** Row that says that the claim of this number waits for a person. */
	held(number: number): string {
		return this.name('held', number);
	}

	/** How often the key was claimed; more than once only if a person has settled what came of it. */
	async claims(): Promise<number> {
		let number = 0;
		while (await this.has(this.name('claim', number))) number++;
		return number;
	}

	/**
	 * Inserts the claim of this number.
	 * @returns whether this execution has it
	 * @throws Failure when n8n can't keep it
	 */
	async take(number: number): Promise<boolean> {
		const row = this.name('claim', number);
		if (await this.has(row)) return false;
		// Where another execution inserts the row first, the database refuses this insertion.
		const isNew = await this.add(row).catch(() => false);
		if ((await this.count(row)) === 1) return isNew;
		// The row holds other keys, so n8n did not use the given name. Only our key is removed: with an
		// empty row, no INSERT would decide any more.
		if (isNew)
			await this.ask(row, ({ removeProcessed }) => removeProcessed?.([row], 'node', OPTIONS));
		throw notClaimed();
	}

	/** Stores which request the claim is for. The second row says that the first one is there. */
	async describe(number: number): Promise<void> {
		for (const row of this.description(number)) await this.add(row);
	}

	/** Whether the claim of this number is known to be for another request, and not released meanwhile. */
	async isOfAnother(number: number): Promise<boolean> {
		const [request, described] = this.description(number);
		const isKnown = (await this.has(described)) && !(await this.has(request));
		return isKnown && (await this.has(described));
	}

	/** Removes a claim: its description first, the claim itself last. One that another has followed stays. */
	async release(number: number): Promise<void> {
		if (await this.has(this.name('claim', number + 1))) return;
		const rows = [...this.description(number).reverse(), this.name('claim', number)];
		for (const row of rows) {
			await this.ask(row, ({ clearAllProcessedItems }) =>
				clearAllProcessedItems?.('node', OPTIONS),
			);
		}
	}

	async has(row: string): Promise<boolean> {
		return (await this.count(row)) > 0;
	}

	/** Whether the row was not there yet. */
	async add(row: string): Promise<boolean> {
		const { new: added } = await this.ask(row, ({ checkProcessedAndRecord }) =>
			checkProcessedAndRecord?.([row], 'node', OPTIONS),
		);
		return added.length > 0;
	}

	private async count(row: string): Promise<number> {
		return await this.ask(row, ({ getProcessedDataCount }) =>
			getProcessedDataCount?.('node', OPTIONS),
		);
	}

	private description(number: number): [request: string, described: string] {
		return [this.name('request', number, this.request), this.name('described', number)];
	}

	private name(...facts: Array<string | number>): string {
		const text = JSON.stringify([this.key, ...facts]);
		return `resumeManagement:${createHash('sha256').update(text).digest('hex')}`;
	}

	private async ask<T>(
		row: string,
		helper: (helpers: ClaimContext['helpers']) => Promise<T> | undefined,
	): Promise<T> {
		const { node } = this.context.getExecuteData();
		const { id } = node;
		node.id = row;
		let result: Promise<T> | undefined;
		try {
			result = helper(this.context.helpers);
		} finally {
			node.id = id;
		}
		if (!result) throw notClaimed();
		return await result;
	}
}

function notClaimed(): Failure {
	return new Failure('key.notClaimed', {}, { mayHaveHappened: false });
}
