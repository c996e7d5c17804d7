import { NodeOperationError } from 'n8n-workflow';
import type { IDataObject, INode, INodeProperties } from 'n8n-workflow';

import { isObject } from './isObject';

/** Reads a node parameter of one item, with expressions evaluated; see `getNodeParameter`. */
export type ReadParameter = (name: string, fallback?: unknown) => unknown;

/** Control characters, and halves of surrogate pairs, which can't be percent-encoded. */
const CONTROL_CHARACTERS = /[\p{Cc}\p{Cs}]/u;

/**
 * One item's parameters, checked before anything is sent. Each method throws a NodeOperationError
 * that names the field and the item.
 */
export class Parameters {
	constructor(
		private readonly node: INode,
		private readonly fields: INodeProperties[],
		readonly itemIndex: number,
		private readonly read: ReadParameter,
	) {}

	/** The parameter as n8n evaluates it. */
	get<T>(name: string, fallback: T): T {
		return this.read(name, fallback) as T;
	}

	/** One entry of the `options` collection. */
	option<T>(name: string, fallback: T): T {
		return this.get(`options.${name}`, fallback);
	}

	/** A whole number of at least `least`, or the fallback where it is none. */
	count(name: string, fallback: number, least = 0): number {
		const number = Math.floor(Number(this.read(name, fallback)));
		return Number.isNaN(number) ? fallback : Math.max(least, number);
	}

	/** A resource locator's ID, percent-encoded as one segment of a path. */
	id(name: string): string {
		const locator = this.read(name, '') as { value?: unknown } | string | number | null;
		const id = String((typeof locator === 'object' ? locator?.value : locator) ?? '');
		if (id.trim() === '') {
			this.reject(name, 'is empty', 'Pick one from the list, or enter its ID.');
		}
		if (id === '.' || id === '..' || CONTROL_CHARACTERS.test(id)) {
			this.reject(
				name,
				'is not an ID',
				'An ID is neither "." nor "..", and has no line breaks or other control characters. Check the expression that it comes from.',
			);
		}
		return encodeURIComponent(id);
	}

	/** An e-mail address, trimmed; '' when it is empty and may be. */
	email(name: string, { optional = false } = {}): string {
		const email = String(this.read(name, '') ?? '').trim();
		if (email === '' && optional) return email;
		if (!/^[^@\s]+@[^@\s]+$/.test(email) || CONTROL_CHARACTERS.test(email)) {
			this.reject(
				name,
				'is not an e-mail address',
				'Enter one address with a single @, such as nathan@example.com.',
			);
		}
		return email;
	}

	/** A text that may not be blank, trimmed. */
	text(name: string): string {
		const text = this.optionalText(name);
		if (text === '') this.reject(name, 'is empty', 'Enter a value, or check its expression.');
		return text;
	}

	/** A text, trimmed; '' when it is missing. */
	optionalText(name: string): string {
		return String(this.read(name, '') ?? '').trim();
	}

	/** The body of a request whose fields the specification does not show: see `bodyFields`. */
	body(): IDataObject {
		if (this.get<string>('specifyBody', 'fields') === 'json') return this.json('jsonBody');
		const pairs = this.get<Array<{ name?: unknown; value?: unknown }>>('bodyFields.field', []);
		return this.pairs('bodyFields', pairs);
	}

	/** The `queryParameters` option: names and values as the account manager gave them. */
	query(): IDataObject {
		const pairs = this.option<Array<{ name?: unknown; value?: unknown }>>(
			'queryParameters.parameter',
			[],
		);
		return this.pairs('options.queryParameters', pairs);
	}

	private json(name: string): IDataObject {
		let value = this.read(name, '{}');
		if (typeof value === 'string') {
			try {
				value = JSON.parse(value) as unknown;
			} catch {
				value = undefined;
			}
		}
		if (!isObject(value)) {
			this.reject(
				name,
				'is not a JSON object',
				'Enter an object in braces, such as {"title": "Engineer"}.',
			);
		}
		return value;
	}

	private pairs(field: string, pairs: Array<{ name?: unknown; value?: unknown }>): IDataObject {
		const entries = pairs.map(({ name, value }) => {
			const key = String(name ?? '').trim();
			if (key === '') this.reject(field, 'has an entry without a name', 'Name it, or remove it.');
			return [key, value ?? ''];
		});
		return Object.fromEntries(entries) as IDataObject;
	}

	private reject(name: string, problem: string, description: string): never {
		throw new NodeOperationError(
			this.node,
			`'${labelOf(name, this.fields)}' ${problem} [item ${this.itemIndex}]`,
			{
				itemIndex: this.itemIndex,
				description: `${description} Nothing was sent for this item.`,
			},
		);
	}
}

/** What a user reads beside the parameter: of one in a collection, such as `options.retries`, its own. */
function labelOf(path: string, fields: INodeProperties['options'] = []): string {
	const [name, ...inner] = path.split('.');
	const field = fields.find((candidate) => candidate.name === name);
	if (!field) return path;
	if (inner.length === 0) return (field as INodeProperties).displayName;
	return labelOf(
		inner.join('.'),
		'values' in field ? field.values : (field as INodeProperties).options,
	);
}
