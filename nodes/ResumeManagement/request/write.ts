import type { INodeExecutionData } from 'n8n-workflow';

import { Failure, outcomeUnknown } from '../answer/failure';

/**
 * A write's life. Only {@link Write.carryOut} moves it on:
 *
 *     prepared ──► sent ──┬──► done       the service confirmed it
 *                   ▲     ├──► refused    proved not to have happened: not sent, or turned down
 *                   └─────┤
 *                         ├──► held       refused until a person has acted
 *                         └──► unknown    everything else, foreseen or not
 */
type State =
	| { name: 'prepared' | 'sent' }
	| { name: 'refused' | 'held' | 'unknown'; failure: Failure }
	| { name: 'done'; items: INodeExecutionData[] };

const MAY_BE_SENT: Record<State['name'], boolean> = {
	prepared: true,
	sent: false,
	refused: true,
	held: false,
	unknown: false,
	done: false,
};

/** Something that the service is asked to do once, and what became of it. */
export class Write {
	private state: State = { name: 'prepared' };

	/** Whether it is never sent again, so that its {@link outcome} is known. */
	get isSettled(): boolean {
		return !MAY_BE_SENT[this.state.name];
	}

	get isDone(): boolean {
		return this.state.name === 'done';
	}

	/**
	 * Sends it, unless that might have it carried out twice.
	 * @param send whatever it throws that is not a {@link Failure} leaves the outcome unknown
	 * @throws Failure
	 */
	async carryOut(send: () => Promise<INodeExecutionData[]>): Promise<INodeExecutionData[]> {
		if (!this.isSettled) {
			this.state = { name: 'sent' };
			try {
				this.state = { name: 'done', items: await send() };
			} catch (error) {
				this.state = stateAfter(error);
			}
		}
		return this.outcome();
	}

	/**
	 * What became of it, from memory.
	 * @throws Failure
	 */
	outcome(): INodeExecutionData[] {
		if (this.state.name === 'done') return this.state.items;
		throw 'failure' in this.state ? this.state.failure : UNDER_WAY;
	}
}

function stateAfter(error: unknown): State {
	if (!(error instanceof Failure)) return { name: 'unknown', failure: outcomeUnknown(UNFORESEEN) };
	if (error.mayHaveHappened) return { name: 'unknown', failure: outcomeUnknown(error) };
	return { name: error.held ? 'held' : 'refused', failure: error };
}

const UNFORESEEN = new Failure(
	'The request ended in an unexpected way',
	'Please report this to the maintainers of this node.',
);

const UNDER_WAY = outcomeUnknown(
	new Failure('It is being sent at this moment', 'Wait until the other run has ended.'),
);

/** The writes of one run of a node, its repetitions by Retry On Fail included. */
export class Journal {
	private readonly writes = new Map<unknown, Write>();

	/** Indexes of items, by what they buy. */
	private readonly buyers = new Map<string, number>();

	private turn: Promise<unknown> = Promise.resolve();

	private attempt: Attempt = { asked: new Set(), stopped: false };

	/** @param key what the run tells the write from its others by: an item's index, or a call's arguments */
	write(key: unknown): Write {
		let write = this.writes.get(key);
		if (!write) this.writes.set(key, (write = new Write()));
		return write;
	}

	/** The first item of the run that buys this: the given one, unless another was before it. */
	buyer(purchase: string, itemIndex: number): number {
		const buyer = this.buyers.get(purchase) ?? itemIndex;
		this.buyers.set(purchase, buyer);
		return buyer;
	}

	/**
	 * Carries writes out one at a time, in the order in which they were asked for.
	 * @param key of the write; one that is asked for again begins a new attempt, by Retry On Fail
	 * @param stops whether nothing more is to be sent in this attempt after a write has failed
	 * @param task carries the write out
	 * @throws what the task throws, or a Failure when an earlier write has stopped the attempt
	 */
	async inTurn<T>(key: unknown, stops: boolean, task: () => Promise<T>): Promise<T> {
		if (this.attempt.asked.has(key)) this.attempt = { asked: new Set(), stopped: false };
		const { attempt } = this;
		attempt.asked.add(key);
		const run = this.turn.then(async () => {
			if (attempt.stopped && !this.write(key).isSettled) throw STOPPED;
			return await task();
		});
		this.turn = run.catch(() => {
			attempt.stopped ||= stops;
		});
		return await run;
	}
}

/** One try of n8n's at a run. */
interface Attempt {
	/** What was asked for so far, each once. */
	asked: Set<unknown>;
	stopped: boolean;
}

const STOPPED = new Failure(
	'Not sent, since an earlier item failed',
	'Fix the earlier item, or set On Error to Continue.',
	{ mayHaveHappened: false },
);

/**
 * n8n's Retry On Fail runs the node again with the same execution data object (n8n-core's
 * workflow-execute.ts), while each round of a loop, each execution and each node has one of its own;
 * the calls that an AI agent makes of a tool share the agent's. So that object is the key, and what it
 * holds is freed together with the run that n8n keeps it for.
 */
const journals = new WeakMap<object, Journal>();

export function journalOf(executeData: object): Journal {
	let journal = journals.get(executeData);
	if (!journal) journals.set(executeData, (journal = new Journal()));
	return journal;
}
