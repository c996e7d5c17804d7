import { Failure, outcomeUnknown } from '../../shared/failure';
import type { Answer } from '../output/shape';
import type { Call } from './call';

/** A call with its answer. */
export interface Done {
	call: Call;
	answer: Answer;
}

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
	| ({ name: 'done' } & Done);

const MAY_BE_SENT: Record<State['name'], boolean> = {
	prepared: true,
	sent: false,
	refused: true,
	held: false,
	unknown: false,
	done: false,
};

/** One thing that the service is to do once, and its state. */
export class Write {
	private state: State = { name: 'prepared' };

	/** Whether it is not to be sent again, so that {@link outcome} is final. */
	get isSettled(): boolean {
		return !MAY_BE_SENT[this.state.name];
	}

	get isDone(): boolean {
		return this.state.name === 'done';
	}

	/**
	 * Sends it, unless it might then be carried out twice.
	 * @param send whatever it throws that is not a {@link Failure} leaves the outcome unknown
	 * @throws Failure
	 */
	async carryOut(call: Call, send: () => Promise<Answer>): Promise<Done> {
		if (!this.isSettled) {
			this.state = { name: 'sent' };
			try {
				this.state = { name: 'done', call, answer: await send() };
			} catch (error) {
				this.state = stateAfter(error);
			}
		}
		return this.outcome();
	}

	/**
	 * The outcome, without a request.
	 * @throws Failure
	 */
	outcome(): Done {
		if (this.state.name === 'done') return this.state;
		throw 'failure' in this.state
			? this.state.failure
			: outcomeUnknown(new Failure('write.underWay'));
	}
}

function stateAfter(error: unknown): State {
	if (!(error instanceof Failure)) {
		return { name: 'unknown', failure: outcomeUnknown(new Failure('node.unexpected')) };
	}
	if (error.mayHaveHappened) return { name: 'unknown', failure: outcomeUnknown(error) };
	const name = error.facts.onHold ? 'held' : 'refused';
	return { name, failure: error.with({ outcome: name }) };
}

/** The writes of one run of a node, its repetitions by Retry On Fail included. */
export class Journal {
	private readonly writes = new Map<unknown, Write>();

	/** The items' indexes, by purchase. */
	private readonly buyers = new Map<string, number>();

	private turn: Promise<unknown> = Promise.resolve();

	/** The write after whose failure nothing else is sent in turn. */
	private stopped?: { by: Write; reason: string };

	/** @param key what the run tells the write from its others by: an item's index, or a call's arguments */
	write(key: unknown): Write {
		let write = this.writes.get(key);
		if (!write) this.writes.set(key, (write = new Write()));
		return write;
	}

	/**
	 * Refuses an item that makes the same purchase as another item of the run. The attempts of Retry On
	 * Fail are one run, so an item does not repeat itself.
	 * @throws Failure
	 */
	refuseRepeated({ index, purchase, sendOnceKey, credential }: Call): void {
		// A key tells its purchase from others.
		if (!purchase || sendOnceKey) return;
		const id = JSON.stringify([credential.baseUrl, credential.privateKey, purchase.id]);
		const buyer = this.buyers.get(id) ?? index;
		this.buyers.set(id, buyer);
		if (buyer === index || purchase.mayRepeat) return;
		throw new Failure('write.repeated', { buyer }, { mayHaveHappened: false, isSetting: true });
	}

	/**
	 * Carries writes out one at a time, in the order in which they were asked for.
	 * @param stops whether nothing else is to be sent once it has failed, until it succeeds in another attempt
	 * @param task carries the write out
	 * @throws what the task throws, or a Failure when an earlier write has stopped the others
	 */
	async inTurn<T>(write: Write, stops: boolean, task: () => Promise<T>): Promise<T> {
		const run = this.turn.then(async () => {
			const { stopped } = this;
			if (stopped && stopped.by !== write && !write.isSettled) {
				const { reason } = stopped;
				throw new Failure('write.stopped', { reason }, { mayHaveHappened: false });
			}
			const result = await task();
			if (stopped?.by === write) this.stopped = undefined;
			return result;
		});
		this.turn = run.catch((error: unknown) => {
			if (stops) this.stopped ??= { by: write, reason: (error as Error).message };
		});
		return await run;
	}

	/**
	 * Which items a stopped run has carried out, in words, so that nobody repeats them.
	 * @param failed the item that stopped it
	 */
	progress(indexes: number[], failed?: number): string {
		const done = indexes.filter((index) => this.write(index).isDone);
		const unsent = indexes.filter((index) => index !== failed && !this.write(index).isSettled);
		const applied =
			done.length === 0
				? 'No item was applied'
				: `Already applied: ${done.length} of ${indexes.length} (${listed(done)})`;
		return `${applied}.${unsent.length === 0 ? '' : ` Not sent: ${listed(unsent)}.`}`;
	}
}

/** Item numbers in words, such as `items 0 to 3, 5`. */
function listed(indexes: number[]): string {
	const ranges: Array<[first: number, last: number]> = [];
	for (const index of indexes) {
		const range = ranges.at(-1);
		if (range?.[1] === index - 1) range[1] = index;
		else ranges.push([index, index]);
	}
	const words = ranges.map(([first, last]) =>
		first === last ? `${first}` : `${first} to ${last}`,
	);
	return `${indexes.length === 1 ? 'item' : 'items'} ${words.join(', ')}`;
}

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
