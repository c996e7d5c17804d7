import type { IBinaryKeyData, IDataObject, INodeExecutionData } from 'n8n-workflow';

import type { AnswerBody } from '../http/judge';
import { type ItemSettings, recordItem, toItem } from './items';

/** The outcome of an item's requests, with the settings for its items. */
export type Answer =
	| { kind: 'record'; body: AnswerBody; settings: ItemSettings }
	| { kind: 'list'; list: List; settings: ItemSettings & { limit: number } }
	/** A stored file, or a report on a request that was not sent. */
	| { kind: 'json'; json: IDataObject; binary?: IBinaryKeyData };

/** The list of one item, from all of its answers. */
export interface List {
	answers: AnswerBody[];
	elements: unknown[];
	/** For the user, if the list may not be whole. */
	hint?: string;
}

/** Returns the items of an answer. */
export function shape(answer: Answer): INodeExecutionData[] {
	switch (answer.kind) {
		case 'record':
			return [recordItem(answer.body, answer.settings)];
		case 'list': {
			const { list, settings } = answer;
			const values = settings.simplify ? list.elements.slice(0, settings.limit) : list.answers;
			return values.map((value) => toItem(value, settings.fields));
		}
		case 'json':
			return [{ json: answer.json, ...(answer.binary && { binary: answer.binary }) }];
	}
}
