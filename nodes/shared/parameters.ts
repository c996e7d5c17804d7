import type { IDataObject, INode, INodeProperties } from 'n8n-workflow';

import { Failure, type FailureId, isErrorOfN8n } from './failure';
import { exactString, isObject, isPlain, throughJson } from './json';
import { excessOfEmail, findInvisible, toPath, toSegment, trimInvisible } from './text';

export type ParameterOptions = { rawExpressions?: boolean };

/** Reads a node parameter of one item: n8n's `getNodeParameter`. */
type ReadParameter = (name: string, fallback?: unknown, options?: ParameterOptions) => unknown;

/** Checks whether the node runs as a tool of an AI agent, which has its own type (n8n/src/tool-generation/ai-tools.ts). */
export function isTool({ type }: INode): boolean {
	return type.endsWith('Tool');
}

/** Start of an expression in a text that n8n did not evaluate. */
const EXPRESSION = '{{';

/** What models write in place of a value that they do not have. */
const NO_VALUE = /^(null|none|nil|undefined|n\/a|nan)$/i;

/** Names that n8n's HTTP client leaves out of a query. */
const NOT_SENT_IN_QUERY = ['__proto__', 'constructor', 'prototype'];

/** A token of RFC 9110, section 5.6.2. */
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * Reads and checks the parameters of one item, by the names, choices and defaults of the fields. A text or a switch that the
 * operation does not have is empty, or off. Each method throws a Failure that names the field.
 */
export class ParameterReader {
	/**
	 * @param consequence ends the description of each Failure
	 * @param isTool a model gives the values, and may write a word such as `null` where it has none
	 */
	constructor(
		private readonly fields: INodeProperties[],
		private readonly readParameter: ReadParameter,
		private readonly consequence: string,
		private readonly isTool = false,
	) {}

	/** Checks whether the user has added this group of fields, which has no default of its own. */
	has(name: string): boolean {
		return Boolean(this.read(name));
	}

	flag(name: string): boolean {
		const value = this.fieldAt(name) ? this.read(name) : false;
		return typeof value === 'boolean' ? value : this.reject('notABoolean', name);
	}

	/** Reads a whole number, at least the field's smallest one, and at most its largest one. */
	count(name: string): number {
		const { default: byDefault, typeOptions } = this.fieldAt(name)!;
		const { minValue = 0, maxValue = Infinity } = typeOptions!;
		const number = Math.floor(Number(this.optionalText(name) || byDefault));
		if (Number.isNaN(number)) this.reject('notANumber', name);
		if (number < minValue) this.reject('tooSmall', name, { least: minValue });
		return Math.min(number, maxValue);
	}

	choice<T extends string>(name: string): T {
		return this.toChoice(name, this.read(name)) as T;
	}

	/** Reads one or more of the choices of a field. */
	choices(name: string): string[] {
		const values = [this.read(name)].flat();
		if (values.length === 0) this.reject('empty', name);
		return values.map((value) => this.toChoice(name, value));
	}

	headerName(name: string): string {
		const header = this.text(name);
		return HEADER_NAME.test(header) ? header : this.reject('notAHeaderName', name);
	}

	/** Reads a path below the Base URL, percent-encoded: see {@link toPath}. */
	path(name: string): string {
		const path = this.text(name);
		if (path.includes('://')) this.reject('isAnAddress', name);
		if (path.includes('?')) this.reject('hasQuery', name);
		// An expression without a value at the end would name all records, also for DELETE.
		if (path.endsWith('/') && this.rawText(name).trimEnd().endsWith('}}'))
			this.reject('notAPath', name);
		return toPath(path) ?? this.reject('notAPath', name);
	}

	/** Reads the ID of a resource locator or, in the mode By Email, the address. */
	idOrEmail(name: string): string | { email: string } {
		const { mode, value } = this.locator(name);
		return mode === 'email' ? { email: this.toEmail(name, value) } : this.toId(name, value);
	}

	/** Reads an email address, trimmed. @param optional if the field may be empty, which gives '' */
	email(name: string, { optional = false } = {}): string {
		if (optional && this.isLeftEmpty(name)) return '';
		const value = this.read(name);
		return optional && this.isNoValue(value) ? '' : this.toEmail(name, value);
	}

	/** Reads text that is not blank, as {@link optionalText}. */
	text(name: string): string {
		return this.optionalText(name) || this.reject('empty', name);
	}

	/** Reads text without invisible characters; '' if it is missing. */
	optionalText(name: string): string {
		return this.toVisible(name, this.read(name));
	}

	/** Reads text that may have any character, trimmed; '' if it is missing. */
	anyText(name: string): string {
		return this.toText(name, this.read(name)).trim();
	}

	/** Reads dotted paths, separated by commas. */
	paths(name: string): string[] {
		const paths = this.optionalText(name).split(',');
		return paths.map((path) => path.trim()).filter(Boolean);
	}

	/**
	 * Reads the body of a request whose fields the specification does not show: see `bodyInputs`.
	 * @param own values of the operation's own fields, which the user can't replace here
	 */
	body(own: IDataObject = {}): IDataObject {
		const isJson = this.choice('specifyBody') === 'json';
		const field = isJson ? 'jsonBody' : 'bodyFields';
		const body = isJson ? this.json(field) : this.bodyFields(field);
		const name = Object.keys(own).find((one) => Object.hasOwn(body, one) && body[one] !== own[one]);
		if (name !== undefined) this.reject('sameName', field, { name });
		return { ...own, ...body };
	}

	/** Reads the Send Once Key; undefined if left empty. An expression without a value fails: the item might be sent twice. */
	sendOnceKey(): string | undefined {
		if (this.isLeftEmpty('sendOnceKey')) return undefined;
		const key = this.text('sendOnceKey');
		// Such a text is an expression without a value, and would be the key of each item.
		const isNoKey = NO_VALUE.test(key) || key === '[object Object]';
		return isNoKey ? this.reject('empty', 'sendOnceKey') : key;
	}

	query(): IDataObject {
		const field = 'options.queryParameters';
		const pairs = this.pairs(field, 'parameter').map(([name, value]) => {
			if (NOT_SENT_IN_QUERY.includes(name)) this.reject('notSentInQuery', field, { name });
			return [name, this.toQueryText(field, value)];
		});
		return Object.fromEntries(pairs) as IDataObject;
	}

	private read(name: string): unknown {
		const field = this.fieldAt(name);
		try {
			return field && this.readParameter(name, field.default ?? null);
		} catch (error) {
			// n8n's expression engine can't return a function, for example.
			throw isErrorOfN8n(error) ? error : this.reject('notEvaluated', name);
		}
	}

	/** Checks whether the user has left the field empty; an expression without a value is not empty. */
	private isLeftEmpty(name: string): boolean {
		return this.fieldAt(name) === undefined || this.rawText(name) === '';
	}

	/** Returns the text of the field before n8n evaluates its expression. */
	private rawText(name: string): string {
		return String(this.readParameter(name, '', { rawExpressions: true }));
	}

	private locator(name: string): { mode?: unknown; value?: unknown } {
		const locator = this.read(name);
		return isObject(locator) && 'value' in locator ? locator : { value: locator };
	}

	private toChoice(name: string, value: unknown): string {
		const choices = this.fieldAt(name)!.options!.map((option) => 'value' in option && option.value);
		if (typeof value === 'string' && choices.includes(value)) return value;
		return this.reject('notAChoice', name, { choices: choices.join(', ') });
	}

	private toId(name: string, value: unknown): string {
		const id = this.toVisible(name, value);
		if (id === '') this.reject('empty', name);
		return toSegment(id) ?? this.reject('notAnId', name);
	}

	private toEmail(name: string, value: unknown): string {
		const email = this.toVisible(name, value);
		const excess = email.includes('@') && excessOfEmail(email);
		if (excess) this.reject('moreThanAnEmail', name, { excess });
		return /^[^@\s]+@[^@\s]+$/.test(email) ? email : this.reject('notAnEmail', name);
	}

	/**
	 * Returns what a person sees: two texts that look the same are equal. Refuses an expression that n8n did not evaluate, because a
	 * request with it would be for something else, and might bill.
	 */
	private toVisible(name: string, value: unknown): string {
		if (this.isNoValue(value)) return '';
		const text = trimInvisible(this.toText(name, value));
		const invisible = findInvisible(text);
		if (invisible) this.reject('invisible', name, invisible);
		return text.includes(EXPRESSION) ? this.reject('anExpression', name) : text;
	}

	/** Checks whether a model says that it has no value. */
	private isNoValue(value: unknown): boolean {
		return this.isTool && typeof value === 'string' && NO_VALUE.test(trimInvisible(value));
	}

	private toQueryText(field: string, value: unknown): string {
		if (typeof value === 'boolean') return String(value);
		// A date of an expression is of another realm, so that `instanceof` does not know it.
		const isDate = Object.prototype.toString.call(value) === '[object Date]';
		return this.toText(field, isDate ? (value as Date).toJSON() : value);
	}

	private toText(name: string, value: unknown): string {
		if (value === undefined || value === null) return '';
		const text = exactString(value);
		return text ?? this.reject(Number.isFinite(value) ? 'digitsLost' : 'notText', name);
	}

	private json(field: string): IDataObject {
		const given = this.read(field);
		const body = this.toJson(field, typeof given === 'string' ? this.parsed(field, given) : given);
		return isPlain(body) ? body : this.reject('notAJsonObject', field);
	}

	private parsed(field: string, given: string): unknown {
		// Also removes a byte order mark.
		const text = given.trim();
		try {
			return JSON.parse(text) as unknown;
		} catch (error) {
			const [, position = text.length] = /position (\d+)/.exec((error as Error).message) ?? [];
			const before = text.slice(0, Number(position)).slice(-30);
			return this.reject('brokenJson', field, { before });
		}
	}

	private bodyFields(field: string): IDataObject {
		const pairs = this.pairs(field, 'field').map(([name, value]) => [
			name,
			this.toJson(field, value, `${this.labelOf(field)}: ${name}`),
		]);
		return Object.fromEntries(pairs) as IDataObject;
	}

	private toJson(field: string, value: unknown, label = this.labelOf(field)): unknown {
		const written = throughJson(value);
		if ('problem' in written) return this.reject(written.problem, field, { field: label });
		return written.value;
	}

	/** Reads the entries of a `fixedCollection` with one group. */
	private pairs(field: string, group: string): Array<[name: string, value: unknown]> {
		const groups = this.read(field) ?? {};
		const pairs = isObject(groups) ? (groups[group] ?? []) : groups;
		if (!Array.isArray(pairs)) this.reject('notAList', field);
		const names = new Set<string>();
		return pairs.map((pair: unknown) => {
			const { name, value } = (pair ?? {}) as { name?: unknown; value?: unknown };
			const key = this.toText(field, name).trim();
			if (key === '') this.reject('unnamedEntry', field);
			if (names.has(key)) this.reject('sameName', field, { name: key });
			names.add(key);
			return [key, value === undefined ? '' : value];
		});
	}

	private labelOf(name: string): string {
		return this.fieldAt(name)?.displayName ?? name;
	}

	/** Returns the field of this name, or at a path in a collection, such as `options.retries`. */
	private fieldAt(path: string): INodeProperties | undefined {
		let fields: INodeProperties['options'] = this.fields;
		let field: Option | undefined;
		for (const name of path.split('.')) {
			field = fields?.find((candidate) => candidate.name === name);
			fields = field && ('values' in field ? field.values : (field as INodeProperties).options);
		}
		return field as INodeProperties | undefined;
	}

	private reject(problem: Problem, name: string, values: Failure['values'] = {}): never {
		const field = this.labelOf(name);
		throw new Failure(`parameter.${problem}`, { field, ...values }, { details: this.consequence });
	}
}

type Option = NonNullable<INodeProperties['options']>[number];

type NameOf<Id> = Id extends `parameter.${infer Name}` ? Name : never;
type Problem = NameOf<FailureId>;
