import type { IDataObject, INodeProperties } from 'n8n-workflow';

import { Failure, type FailureId, isErrorOfN8n } from './failure';
import { exactString, isObject, isPlain, parseJson, throughJson } from './json';
import { CONTROL_CHARACTERS, toPath, toSegment } from './path';

export type ParameterOptions = { rawExpressions?: boolean };

/** Reads a node parameter of one item: n8n's `getNodeParameter`. */
type ReadParameter = (name: string, fallback?: unknown, options?: ParameterOptions) => unknown;

/** Normalizes an email address for comparison. Lower-cases only A–Z: Unicode folding could match another address. */
export function normalizeEmail(email: string): string {
	return email.trim().replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** Start of an expression in a text that n8n did not evaluate. */
const EXPRESSION = '{{';

/** A token of RFC 9110, section 5.6.2. */
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * Reads and checks the parameters of one item, by the names, choices and defaults of the fields. A text or a switch that the
 * operation does not have is empty, or off. Each method throws a Failure that names the field.
 */
export class ParameterReader {
	/** @param consequence ends the description of each Failure */
	constructor(
		private readonly fields: INodeProperties[],
		private readonly readParameter: ReadParameter,
		private readonly consequence = 'Nothing was sent for this item.',
	) {}

	/** Checks whether the user has added this group of fields. */
	has(name: string): boolean {
		return Boolean(this.read(name));
	}

	flag(name: string): boolean {
		const value = this.fieldAt(name) ? this.read(name) : false;
		return typeof value === 'boolean' ? value : this.reject('notABoolean', name);
	}

	/** Reads a whole number within the bounds of its field. */
	count(name: string): number {
		const { default: byDefault, typeOptions } = this.fieldAt(name)!;
		const { minValue = 0, maxValue = Infinity } = typeOptions!;
		const number = Math.floor(Number(this.optionalText(name) || byDefault));
		if (Number.isNaN(number)) this.reject('notANumber', name);
		return Math.min(Math.max(minValue, number), maxValue);
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

	/** Reads the ID of a resource locator, percent-encoded as one segment of a path. */
	id(name: string): string {
		return this.toId(name, this.locator(name).value);
	}

	/** Reads the ID of a resource locator or, in the mode By Email, the address. */
	idOrEmail(name: string): string | { email: string } {
		const { mode, value } = this.locator(name);
		return mode === 'email' ? { email: this.toEmail(name, value) } : this.toId(name, value);
	}

	/** Reads an email address, trimmed. @param optional if the field may be empty, which gives '' */
	email(name: string, { optional = false } = {}): string {
		return optional && this.isLeftEmpty(name) ? '' : this.toEmail(name, this.read(name));
	}

	/** Reads text that is not blank, trimmed. */
	text(name: string): string {
		return this.optionalText(name) || this.reject('empty', name);
	}

	/** Reads any text, trimmed; '' if it is missing. */
	optionalText(name: string): string {
		return this.toTrimmed(name, this.read(name));
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
		return this.isLeftEmpty('sendOnceKey') ? undefined : this.text('sendOnceKey');
	}

	query(): IDataObject {
		const field = 'options.queryParameters';
		const pairs = this.pairs(field, 'parameter').map(([name, value]) => {
			return [name, typeof value === 'boolean' ? String(value) : this.toText(field, value)];
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
		const id = this.toTrimmed(name, value);
		if (id === '') this.reject('empty', name);
		return toSegment(id) ?? this.reject('notAnId', name);
	}

	private toEmail(name: string, value: unknown): string {
		const email = this.toTrimmed(name, value);
		const isOne = /^[^@\s]+@[^@\s]+$/.test(email) && !CONTROL_CHARACTERS.test(email);
		return isOne ? email : this.reject('notAnEmail', name);
	}

	/** Refuses an expression that n8n did not evaluate: a request with it would be for something else, and might bill. */
	private toTrimmed(name: string, value: unknown): string {
		const text = this.toText(name, value).trim();
		return text.includes(EXPRESSION) ? this.reject('anExpression', name) : text;
	}

	private toText(name: string, value: unknown): string {
		if (value === undefined || value === null) return '';
		const text = exactString(value);
		return text ?? this.reject(Number.isFinite(value) ? 'digitsLost' : 'notText', name);
	}

	private json(field: string): IDataObject {
		const given = this.read(field);
		const body = typeof given === 'string' ? this.parsed(field, given) : this.toJson(field, given);
		return isPlain(body) ? body : this.reject('notAJsonObject', field);
	}

	/** Parses JSON, whose numbers must be sent with the digits that the user wrote. */
	private parsed(field: string, text: string): unknown {
		const parsed = parseJson(text) ?? this.reject('notAJsonObject', field);
		return parsed.hasRounded ? this.reject('digitsLost', field) : parsed.value;
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
			return [key, value ?? ''];
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
