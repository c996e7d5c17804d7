import { NodeOperationError } from 'n8n-workflow';
import type { IDataObject, INode, INodeProperties } from 'n8n-workflow';

import { exactText, isJson, isObject, isPlain } from '../answer/json';
import { kindOf, labelOf } from './labels';
import { CONTROL_CHARACTERS, toPath, toSegment } from './path';

/** Reads a node parameter of one item, with expressions evaluated; see `getNodeParameter`. */
export type ReadParameter = (name: string, fallback?: unknown) => unknown;

/** Names that n8n's client leaves out (axios, `mergeConfig`), so that the request would say less. */
const NOT_SENT = ['__proto__', 'constructor', 'prototype'];

/** The texts of a JSON text, so that what is left holds its numbers. */
const JSON_TEXTS = /"(?:[^"\\]|\\.)*"/g;

const JSON_NUMBERS = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Characters of a key that is sent once; IDs are shorter. */
const LONGEST_KEY = 500;

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

	/** A switch. */
	flag(name: string, fallback: boolean): boolean {
		return Boolean(this.get(name, fallback));
	}

	/** A switch that decides what is sent, so nothing but true and false is taken for either. */
	decision(name: string): boolean {
		const value = this.read(name, false);
		if (typeof value === 'boolean') return value;
		return this.reject(
			name,
			'is neither true nor false',
			'Check the expression that it comes from.',
		);
	}

	/** A whole number of at least `least`, or the fallback where it is empty. */
	count(name: string, fallback: number, least = 0): number {
		const text = this.optionalText(name, String(fallback)) || String(fallback);
		const number = Math.floor(Number(text));
		if (Number.isNaN(number)) this.reject(name, 'is not a number', 'Enter a whole number.');
		return Math.max(least, number);
	}

	/** One of the given texts. */
	choice<T extends string>(name: string, choices: readonly T[]): T {
		const value = this.read(name, '');
		const chosen = choices.find((choice) => choice === value);
		if (chosen !== undefined) return chosen;
		const listed = choices.join(', ');
		return this.reject(name, `is not one of ${listed}`, 'Check the expression that it comes from.');
	}

	/** A path below the base address, percent-encoded: see {@link toPath}. */
	path(name: string): string {
		const path = toPath(this.text(name));
		if (path !== undefined) return path;
		return this.reject(
			name,
			'is not a path below the Base URL',
			'Enter what follows the Base URL, such as /connect, without an address, "..", empty parts or backslashes, and write a percent sign as %25. What would follow a question mark goes into Query Parameters.',
		);
	}

	/** A resource locator's ID, percent-encoded as one segment of a path. */
	id(name: string): string {
		return this.toId(name, this.locator(name).value);
	}

	/** The same, or in the mode By Email what the ID is to be looked up by. */
	idOrEmail(name: string): string | { email: string } {
		const { mode, value } = this.locator(name);
		return mode === 'email' ? { email: this.toEmail(name, value) } : this.toId(name, value);
	}

	/** An e-mail address, trimmed; '' when it is empty and may be. */
	email(name: string, { optional = false } = {}): string {
		const email = this.optionalText(name);
		return email === '' && optional ? email : this.toEmail(name, email);
	}

	/** A text that may not be blank, trimmed. */
	text(name: string): string {
		const text = this.optionalText(name);
		if (text === '') this.reject(name, 'is empty', 'Enter a value, or check its expression.');
		return text;
	}

	/** A text, trimmed; '' when it is missing. */
	optionalText(name: string, fallback = ''): string {
		return this.plain(name, this.read(name, fallback)).trim();
	}

	/** Dotted paths, separated by commas, each as the names along it. */
	paths(name: string): string[][] {
		const paths = this.optionalText(name).split(',');
		return paths
			.map((path) => path.trim())
			.filter(Boolean)
			.map((path) => path.split('.'));
	}

	/** The body of a request whose fields the specification does not show: see `bodyFields`. */
	body(): IDataObject {
		if (this.choice('specifyBody', ['fields', 'json']) === 'json') return this.json('jsonBody');
		const pairs = this.pairs('bodyFields', 'field');
		for (const [name, value] of pairs) {
			if (!isJson(value))
				this.rejectNotJson('bodyFields', `The value of '${name}' is none of these.`);
		}
		return Object.fromEntries(pairs) as IDataObject;
	}

	/**
	 * What stands for the item across executions; '' where the user has left the field empty. An
	 * expression that comes to nothing is an error, as the item would go out unguarded.
	 */
	sendOnceKey(): string {
		const name = 'sendOnceKey';
		const entered = this.node.parameters[name] ?? '';
		if (entered === '') return '';
		const key = this.text(name);
		if (key.length > LONGEST_KEY) {
			this.reject(
				name,
				`is longer than ${LONGEST_KEY} characters`,
				'Use an ID, such as that of the payment.',
			);
		}
		return key;
	}

	/** The `queryParameters` option: names and values as the account manager gave them. */
	query(): IDataObject {
		const field = 'options.queryParameters';
		const pairs = this.pairs(field, 'parameter').map(([name, value]) => {
			const text = typeof value === 'boolean' ? String(value) : this.plain(field, value);
			if (NOT_SENT.includes(name) || /\p{Cs}/u.test(name + text)) {
				this.reject(
					field,
					`has an entry '${name}' that can't be sent`,
					"n8n's client leaves out such a name, or changes a text with half a character in it. Check the expression.",
				);
			}
			return [name, text];
		});
		return Object.fromEntries(pairs) as IDataObject;
	}

	private locator(name: string): { mode?: unknown; value?: unknown } {
		const locator = this.read(name, '');
		return isObject(locator) && 'value' in locator ? locator : { value: locator };
	}

	private toId(name: string, value: unknown): string {
		const id = this.plain(name, value);
		if (id.trim() === '') {
			this.reject(name, 'is empty', 'Pick one from the list, or enter its ID.');
		}
		const segment = toSegment(id);
		if (segment !== undefined) return segment;
		return this.reject(
			name,
			'is not an ID',
			'An ID is neither "." nor "..", and has no line breaks or other control characters. Check the expression that it comes from.',
		);
	}

	private toEmail(name: string, value: unknown): string {
		const email = this.plain(name, value).trim();
		if (/^[^@\s]+@[^@\s]+$/.test(email) && !CONTROL_CHARACTERS.test(email)) return email;
		return this.reject(
			name,
			'is not an e-mail address',
			'Enter one address with a single @, such as nathan@example.com.',
		);
	}

	/** What goes into an address or a field of text: a text, or a number that is written exactly. */
	private plain(name: string, value: unknown): string {
		if (value === undefined || value === null) return '';
		const text = exactText(value);
		if (text !== undefined) return text;
		return this.reject(
			name,
			`is ${kindOf(value)} and not a text or a number`,
			'Check the expression that it comes from: it may need the name of a property at its end.',
		);
	}

	private json(name: string): IDataObject {
		let value = this.read(name, '{}');
		if (typeof value === 'string') {
			const numbers = value.replace(JSON_TEXTS, '').match(JSON_NUMBERS) ?? [];
			if (numbers.some((number) => exactText(Number(number)) === undefined)) {
				this.reject(
					name,
					'holds a number with too many digits',
					'It could not be sent exactly. Put it in quotes.',
				);
			}
			try {
				value = JSON.parse(value) as unknown;
			} catch {
				value = undefined;
			}
		}
		if (!isPlain(value)) {
			this.reject(
				name,
				'is not a JSON object',
				'Enter an object in braces, such as {"title": "Engineer"}.',
			);
		}
		if (!isJson(value)) this.rejectNotJson(name, 'Check the expression that it comes from.');
		return value;
	}

	/** The entries of a `fixedCollection` with one group. */
	private pairs(field: string, group: string): Array<[name: string, value: unknown]> {
		const groups = this.read(field, {}) ?? {};
		const pairs = isObject(groups) ? (groups[group] ?? []) : groups;
		if (!Array.isArray(pairs))
			this.reject(field, `is ${kindOf(pairs)} and not a list`, 'Enter it anew.');
		const names = new Set<string>();
		return pairs.map((pair: unknown) => {
			const { name, value } = (pair ?? {}) as { name?: unknown; value?: unknown };
			const key = this.plain(field, name).trim();
			if (key === '') this.reject(field, 'has an entry without a name', 'Name it, or remove it.');
			if (names.has(key)) {
				this.reject(field, `has two entries named '${key}'`, 'Rename one of them, or remove it.');
			}
			names.add(key);
			return [key, value ?? ''];
		});
	}

	private rejectNotJson(name: string, advice: string): never {
		return this.reject(
			name,
			'holds a value that JSON has no form for',
			`Texts, finite numbers, true, false, null, lists, objects and valid dates can be sent. ${advice}`,
		);
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
