import { NodeOperationError } from 'n8n-workflow';
import type { INode } from 'n8n-workflow';

import type { Purchase } from './operation';
import type { Journal } from './write';

/**
 * Refuses an item that would buy what another item of the run buys already. The attempts of Retry On
 * Fail are one run, so an item is no repetition of itself.
 * @throws NodeOperationError
 */
export function refuseRepeated(
	node: INode,
	{ id, mayRepeat }: Purchase,
	journal: Journal,
	itemIndex: number,
): void {
	const buyer = journal.buyer(id, itemIndex);
	if (buyer === itemIndex || mayRepeat) return;
	throw new NodeOperationError(
		node,
		`Item ${buyer} is for the same upgrade, so this one was not sent [item ${itemIndex}]`,
		{
			itemIndex,
			description:
				'Both have the same email and plan, and each would bill. If they are two purchases, give each a Send Once Key of its own, or switch on Allow Repeated Upgrades in Options. Nothing was sent for this item.',
		},
	);
}
