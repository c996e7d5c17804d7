import type { IDataObject, INode } from 'n8n-workflow';

import { isErrorOfN8n } from './failure';
import { isObject } from './json';
import { ParameterValue } from './parameterValue';

export type ParameterOptions = { rawExpressions?: boolean };

/** Reads a node parameter of one item: n8n's `getNodeParameter`. */
type ReadParameter = (name: string, fallback?: unknown, options?: ParameterOptions) => unknown;

/** The part of n8n's INodeProperties and of its options that is read here. */
interface Field {
	name: string;
	displayName?: string;
	default?: unknown;
	typeOptions?: { minValue?: number; maxValue?: number };
	/** The choices of a field, the fields of a collection, or the groups of a `fixedCollection`. */
	options?: Field[];
	/** The value of a choice. */
	value?: unknown;
	/** The fields of a group of a `fixedCollection`. */
	values?: Field[];
}

/** Checks whether the node runs as a tool of an AI agent, which has its own type (n8n/src/tool-generation/ai-tools.ts). */
export function isTool({ type }: INode): boolean {
	return type.endsWith('Tool');
}

/** Names that n8n's HTTP client leaves out of a query. */
const NOT_SENT_IN_QUERY = ['__proto__', 'constructor', 'prototype'];

/**
 * Reads and checks the parameters of one item, by the names, choices and defaults of an operation's fields. A path such as
 * `options.retries` names a field in a collection.
 */
export class ParameterReader {
	/**
	 * @param consequence ends the description of each Failure
	 * @param isTool a model gives the values, and may write a word such as `null` where it has none
	 */
	constructor(
		private readonly fields: Field[],
		private readonly readParameter: ReadParameter,
		private readonly consequence: string,
		private readonly isTool = false,
	) {}

	/** Checks whether the user has added this group of fields, which has no default of its own. */
	has(name: string): boolean {
		return this.read(name) !== null;
	}

	flag(name: string): boolean {
		return this.value(name).boolean();
	}

	/** Reads a whole number, at least the field's smallest one, and at most its largest one. */
	count(name: string): number {
		const { default: byDefault, typeOptions = {} } = this.fieldAt(name);
		const { minValue: smallest = 0, maxValue: largest = Infinity } = typeOptions;
		return this.value(name).wholeNumber({ default: byDefault, smallest, largest });
	}

	choice<T extends string>(name: string): T {
		return this.value(name).choice(this.choicesOf(name)) as T;
	}

	/** Reads one or more of the choices of a field. */
	choices(name: string): string[] {
		const values = [this.read(name)].flat();
		if (values.length === 0) this.value(name).reject('parameter.empty');
		return values.map((value) => this.toValue(name, value).choice(this.choicesOf(name)));
	}

	/** Reads text that is not blank. */
	text(name: string): string {
		return this.value(name).text();
	}

	/** Reads text; '' if it is missing. */
	optionalText(name: string): string {
		return this.value(name).optionalText();
	}

	/** Reads text that may have invisible characters; '' if it is missing. */
	unfilteredText(name: string): string {
		return this.value(name).unfilteredText();
	}

	headerName(name: string): string {
		return this.value(name).headerName();
	}

	path(name: string): string {
		return this.value(name).path();
	}

	/** Reads the ID of a resource locator or, in the mode By Email, the address. */
	idOrEmail(name: string): string | { email: string } {
		const locator = this.read(name);
		if (!isObject(locator) || !('value' in locator)) return this.toValue(name, locator).id();
		const given = this.toValue(name, locator.value);
		return locator.mode === 'email' ? { email: given.email() } : given.id();
	}

	/** Reads an email address. @param optional if the field may be empty, which gives '' */
	email(name: string, { optional = false } = {}): string {
		if (optional && this.isLeftEmpty(name)) return '';
		const given = this.value(name);
		return optional && given.isNoValueOfModel() ? '' : given.email();
	}

	/** Reads the Send Once Key, which not every write has; undefined if left empty. An expression without a value fails. */
	sendOnceKey(): string | undefined {
		const name = 'sendOnceKey';
		if (!this.offers(name) || this.isLeftEmpty(name)) return undefined;
		return this.value(name).sendOnceKey();
	}

	/** Reads Fields to Return, which writes do not have. */
	fieldsToReturn(): string[] {
		const name = 'options.fieldsToReturn';
		return this.offers(name) ? this.value(name).dottedPaths() : [];
	}

	/** Reads Query Parameters, which most writes do not have. */
	query(): IDataObject {
		const name = 'options.queryParameters';
		if (!this.offers(name)) return {};
		const parameters = this.value(name);
		const query: IDataObject = {};
		for (const [key, value] of parameters.entries('parameter')) {
			if (NOT_SENT_IN_QUERY.includes(key)) {
				parameters.reject('parameter.notSentInQuery', { name: key });
			}
			query[key] = this.toValue(name, value).queryText();
		}
		return query;
	}

	/**
	 * Reads the body of a request whose fields the specification does not show: see `bodyInputs`.
	 * @param own values of the operation's own fields, which the user can't replace here
	 */
	body(own: IDataObject = {}): IDataObject {
		const isJson = this.choice('specifyBody') === 'json';
		const given = this.value(isJson ? 'jsonBody' : 'bodyFields');
		const body = isJson ? given.jsonObject() : this.toBody(given);
		const isReplaced = (key: string) => Object.hasOwn(body, key) && body[key] !== own[key];
		const name = Object.keys(own).find(isReplaced);
		if (name !== undefined) given.reject('parameter.sameName', { name });
		return { ...own, ...body };
	}

	private toBody(bodyFields: ParameterValue): IDataObject {
		const label = this.labelOf('bodyFields');
		const entries = bodyFields.entries('field').map(([name, value]) => {
			return [name, this.toValue('bodyFields', value, `${label}: ${name}`).json()];
		});
		return Object.fromEntries(entries) as IDataObject;
	}

	/** Checks whether the operation has a field. */
	private offers(name: string): boolean {
		return this.findField(name) !== undefined;
	}

	/** Checks whether the user has left the field empty; an expression without a value is not empty. */
	private isLeftEmpty(name: string): boolean {
		return this.readParameter(name, '', { rawExpressions: true }) === '';
	}

	private value(name: string): ParameterValue {
		return this.toValue(name, this.read(name));
	}

	private toValue(name: string, value: unknown, label = this.labelOf(name)): ParameterValue {
		const { consequence, isTool } = this;
		return new ParameterValue(value, label, { consequence, isTool });
	}

	/** Returns the value of a field, or its default; null for a group of fields that the user has not added. */
	private read(name: string): unknown {
		const { default: byDefault = null } = this.fieldAt(name);
		try {
			return this.readParameter(name, byDefault);
		} catch (error) {
			// n8n's expression engine can't return a function, for example.
			throw isErrorOfN8n(error)
				? error
				: this.toValue(name, undefined).reject('parameter.notEvaluated');
		}
	}

	private choicesOf(name: string): unknown[] {
		return this.fieldAt(name).options!.map(({ value }) => value);
	}

	private labelOf(name: string): string {
		return this.fieldAt(name).displayName!;
	}

	/** @throws Error for a misspelled name: the code is wrong then, and not what the user entered */
	private fieldAt(name: string): Field {
		const field = this.findField(name);
		if (!field) throw new Error(`The operation has no field ${name}`);
		return field;
	}

	private findField(path: string): Field | undefined {
		let fields: Field[] | undefined = this.fields;
		let field: Field | undefined;
		for (const name of path.split('.')) {
			field = fields?.find((candidate) => candidate.name === name);
			fields = field?.options ?? field?.values;
		}
		return field;
	}
}
