import type { IBinaryKeyData, IDataObject, INodeExecutionData } from 'n8n-workflow';

import type { AnswerBody } from '../http/judge';
import type { FileSettings } from './file';
import { type ItemSettings, recordItem, toItem } from './items';
import type { List, ListSettings } from './list';
import type { Pagination } from './pages';

/** How an item's answer becomes items, from its parameters. */
export type Output =
	| ({ kind: 'record' } & ItemSettings)
	| ({ kind: 'list'; pagination?: Pagination } & ListSettings)
	| ({ kind: 'file' } & FileSettings);

/** The outcome of an item's requests. */
export type Answer =
	| { kind: 'record'; body: AnswerBody }
	| ({ kind: 'list' } & List)
	/** A stored file, or what is told about a request that was not sent. */
	| { kind: 'json'; json: IDataObject; binary?: IBinaryKeyData };

/** The items of an answer. */
export function shape(answer: Answer, output: Output): INodeExecutionData[] {
	if (answer.kind === 'record' && output.kind === 'record')
		return [recordItem(answer.body, output)];
	if (answer.kind === 'list' && output.kind === 'list') {
		const { simplify, limit, fields } = output;
		const values = simplify ? answer.elements.slice(0, limit) : answer.answers;
		return values.map((value) => toItem(value, fields));
	}
	const { json, binary } = answer as Extract<Answer, { kind: 'json' }>;
	return [{ json, ...(binary && { binary }) }];
}
