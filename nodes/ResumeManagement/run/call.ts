import type { Credential } from '../http/credential';
import type { HttpRequest } from '../http/send';
import type { Operation, RequestParts } from '../operations/operation';
import type { ItemSettings } from '../output/items';
import type { ListSettings } from '../output/list';
import type { FileSettings } from './file';
import type { Pagination } from './pages';

/** Settings of an item for its output: what becomes of its responses. */
export type OutputSettings =
	| ({ kind: 'record' } & ItemSettings)
	| ({ kind: 'list'; pagination?: Pagination } & ItemSettings & ListSettings)
	| ({ kind: 'file' } & FileSettings);

/** A user to look up by email address, and settings for reading the list of users. */
export interface UserByEmail {
	email: string;
	/** Dotted path of the list in a response; undefined to find the list. */
	itemsPath?: string;
	pagination?: Pagination;
}

/** An item's request and settings, as plain data: every expression has been evaluated. */
export interface Call extends Pick<RequestParts, 'body' | 'preview' | 'purchase'> {
	/** Index of the item. */
	index: number;
	operation: Operation;
	credential: Credential;
	request: HttpRequest;
	output: OutputSettings;
	/** Identifies the request across executions: see `claims.ts`. '' if the user set none; undefined for reads. */
	sendOnceKey?: string;
}
