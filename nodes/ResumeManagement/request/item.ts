import { NodeOperationError } from 'n8n-workflow';
import type { INode, INodeExecutionData } from 'n8n-workflow';

import { type ItemSettings, recordItem } from '../answer/items';
import { findList, listItems } from '../answer/list';
import { readPages, readPagination } from '../answer/pages';
import { storeFile } from '../download/download';
import { bodyOf, type Exchange, type Message } from './exchange';
import type { Operation, PathValues, Purchase, RequestParts } from './operation';
import type { Parameters } from './parameters';

/** How often a request is repeated, where the user sets no other number. */
const RETRIES = 2;

/** One item, of which all parameters have been read: from here on, no expression can throw. */
export interface PreparedItem {
	retries: number;
	/** '' where the user set none. */
	sendOnceKey: string;
	purchase?: Purchase;
	preview: boolean;
	path: PathValues;
	message: Message;
	/**
	 * @param exchange for the operation at the item's path
	 * @throws Failure
	 */
	request(exchange: Exchange, hint: (message: string) => void): Promise<INodeExecutionData[]>;
}

/** @throws NodeOperationError naming the field, or what n8n throws for an expression */
export function prepareItem(
	node: INode,
	operation: Operation,
	parameters: Parameters,
): PreparedItem {
	const parts = operation.read(parameters);
	const { method, path = {}, query, sendOnceKey = '', purchase, preview = false } = parts;
	const body = parts.body && toJson(node, parts.body, parameters.itemIndex);
	const message = { method, query, body };
	return {
		retries: operation.write ? RETRIES : parameters.count('options.retries', RETRIES),
		sendOnceKey,
		purchase,
		preview,
		path,
		message,
		request: READERS[operation.answer](operation, parameters, parts, message),
	};
}

type Reader = (
	operation: Operation,
	parameters: Parameters,
	parts: RequestParts,
	message: Message,
) => PreparedItem['request'];

/** For each kind of answer: which parameters it takes, and how it becomes items. */
const READERS: Record<Operation['answer'], Reader> = {
	record(operation, parameters, parts, message) {
		const settings = readItemSettings(parameters);
		return async (exchange, hint) => {
			const answer = await exchange(message, bodyOf(operation));
			if (parts.hint) hint(parts.hint);
			return [recordItem(parts.convert?.(answer) ?? answer, settings)];
		};
	},

	list(operation, parameters, _, message) {
		const settings = {
			...readItemSettings(parameters),
			limit: parameters.flag('returnAll', false) ? Infinity : parameters.count('limit', 50, 1),
			path: parameters.optionalText('options.itemsPath'),
			name: operation.path.split('/').at(-1)!,
			advice: SET_ITEMS_PATH,
		};
		const pagination = readPagination(parameters, 'pagination');
		const read = bodyOf(operation);
		return async (exchange, hint) => {
			if (!pagination) {
				const answer = await exchange(message, read);
				const elements = settings.simplify ? findList(answer, settings) : [];
				return listItems({ answers: [answer], elements }, settings);
			}
			const list = await readPages(pagination, settings, async (page) => {
				return await exchange({ ...message, query: { ...message.query, ...page } }, read);
			});
			if (list.hint) hint(list.hint);
			return listItems(list, settings);
		};
	},

	file(_, parameters, __, message) {
		const settings = {
			field: parameters.text('binaryPropertyName'),
			fileName: parameters.optionalText('options.fileName'),
		};
		return async (exchange) => {
			return await exchange(message, async (received, connection) => {
				return [await storeFile(received, settings, connection)];
			});
		};
	},
};

function readItemSettings(parameters: Parameters): ItemSettings {
	return {
		simplify: parameters.flag('simplify', true),
		fields: parameters.paths('options.fieldsToReturn'),
	};
}

const SET_ITEMS_PATH =
	'Set Items Path in Options to the place of the list, such as data.users, or switch off Simplify to see the answer whole.';

function toJson(node: INode, body: object, itemIndex: number): string {
	try {
		return JSON.stringify(body);
	} catch {
		throw new NodeOperationError(node, `The body can't be written as JSON [item ${itemIndex}]`, {
			itemIndex,
			description:
				'It holds a value that JSON has no form for, such as an object within itself. Check the expressions that it comes from. Nothing was sent for this item.',
		});
	}
}
