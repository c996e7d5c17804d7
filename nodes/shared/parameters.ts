import type { IDataObject, INode } from 'n8n-workflow';

import { Failure, type FailureId, isErrorOfN8n } from './failure';
import { DigitsLost, exactString, isObject, toPlain, validStart, writesItself } from './json';
import {
	findInvisible,
	isNotAValue,
	isPlaceholder,
	MAX_EMAIL_LENGTH,
	MAX_SHOWN,
	partBesideEmail,
	saysNone,
	standsForNone,
	toPath,
	toSegment,
	trimInvisible,
} from './text';

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

/**
 * Checks whether the node runs as a tool of an AI agent, which has its own type
 * (n8n/src/tool-generation/ai-tools.ts).
 */
export function isTool({ type }: INode): boolean {
	return type.endsWith('Tool');
}

/** Names that n8n's HTTP client leaves out of a query. */
const NOT_SENT_IN_QUERY = ['__proto__', 'constructor', 'prototype'];

/**
 * Reads and checks the parameters of one item, by the names, choices and defaults of an operation's
 * fields. A path such as `options.retries` names a field in a collection.
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

	/**
	 * Checks whether the user has added this group of fields: n8n stores nothing for one that is not
	 * added.
	 */
	isAdded(name: string): boolean {
		return this.read(name, null) !== null;
	}

	flag(name: string): boolean {
		return this.value(name).boolean();
	}

	/** Reads a whole number, at least the field's smallest one, and at most its largest one. */
	wholeNumber(name: string): number {
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
		if (values.length === 0) this.toValue(name, undefined).reject('parameter.empty');
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

	/** Reads the name of a header; '' if it is missing. */
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

	/**
	 * Reads the Send Once Key, which not every write has; undefined if left empty. An expression
	 * without a value fails.
	 */
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
		this.refuseFixedExpressions(name);
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
		const field = isJson ? 'jsonBody' : 'bodyFields';
		this.refuseFixedExpressions(field);
		const given = this.value(field);
		const body = isJson ? given.jsonObject() : this.toBody(given);
		const isOtherThanOwn = (key: string) => Object.hasOwn(body, key) && body[key] !== own[key];
		const name = Object.keys(own).find(isOtherThanOwn);
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

	/** Refuses an expression in a text that is set to Fixed: the service would get the expression. */
	private refuseFixedExpressions(name: string): void {
		const stored = this.readParameter(name, '', { rawExpressions: true });
		const fixed = textsIn(stored).filter((text) => !text.startsWith('='));
		if (fixed.some((text) => EXPRESSION_IN_TEXT.test(text))) {
			this.toValue(name, stored).reject('parameter.anExpression');
		}
	}

	/** Checks whether the operation has a field. */
	private offers(name: string): boolean {
		return this.findField(name) !== undefined;
	}

	/**
	 * Checks whether the user has left the field empty. It is not if its expression gives nothing,
	 * such as `{{ $json.missing }}`.
	 */
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

	/** Returns the value of a field, or the fallback. */
	private read(name: string, fallback = this.fieldAt(name).default): unknown {
		try {
			return this.readParameter(name, fallback);
		} catch (error) {
			// n8n's expression engine can't return a function, for example.
			throw isErrorOfN8n(error) ? error : this.notEvaluated(name);
		}
	}

	private notEvaluated(name: string): Failure {
		const field = this.labelOf(name);
		return new Failure('parameter.notEvaluated', { field }, { details: this.consequence });
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

/** An expression in a text that n8n did not evaluate, with its braces or without. */
const EXPRESSION =
	/\{\{|\$\{|\$\(["'`]|(?<!\w)\$(json|input|node|items?|itemIndex|now|today|execution|workflow|fromAI)\b/;

/** What follows `$` in an expression of n8n, but in no other template, such as `{{ $labels.a }}`. */
const AFTER_DOLLAR = [
	/\(\\?["'][^"'#.]/,
	/(node|binary)[.?[]/,
	/(vars|env|now|input|prevNode|execution|workflow)\??\./,
	/(json|now|today|itemIndex|runIndex)\b/,
	/(items|fromAI|jmespath)\(/,
].map(({ source }) => source);

/** An expression in a text whose braces and `$` may be those of another template system. */
const EXPRESSION_IN_TEXT = new RegExp(
	`\\{\\{(?!\\{)(?:(?!\\}\\})[^]){0,500}?\\$(${AFTER_DOLLAR.join('|')})|^\\s*\\$json[.[]`,
);

function textsIn(value: unknown): string[] {
	if (typeof value === 'string') return [value];
	return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Returns where something is in a text, for an error. */
function placeAfter(before: string): string {
	return before === '' ? 'at its start' : `after '${before}'`;
}

/** A path in quotes, as in a list of JSON. */
const IN_QUOTES = /^["'`“](.*)["'`”]$/;

const EMAIL_PATTERN = /^[^@\s]+@[^@\s]+$/;

/** A token of RFC 9110, section 5.6.2. */
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * Checks the value of one item's parameter, and returns it as its type. Each method throws a
 * Failure that names the field.
 */
class ParameterValue {
	/**
	 * @param label names the field in errors
	 * @param settings see ParameterReader
	 */
	constructor(
		private readonly value: unknown,
		private readonly label: string,
		private readonly settings: { consequence: string; isTool: boolean },
	) {}

	boolean(): boolean {
		const { value } = this;
		return typeof value === 'boolean' ? value : this.reject('parameter.notABoolean');
	}

	/** @param limits a larger number becomes the largest */
	wholeNumber(limits: { default: unknown; smallest: number; largest: number }): number {
		const text = this.optionalText();
		// JavaScript reads 1.000 as 1, and 0x10 as 16. Databases write 10.0 for 10.
		const isOther = typeof this.value === 'string' && !/^[+-]?\d*(\.0{1,2})?$/.test(text);
		const number = Number(text || limits.default);
		if (number < limits.smallest) this.reject('parameter.tooSmall', { least: limits.smallest });
		if (isOther || !Number.isInteger(number)) this.reject('parameter.notANumber');
		return Math.min(number, limits.largest);
	}

	/** @param choices the values that the field offers */
	choice(choices: unknown[]): string {
		const { value } = this;
		if (typeof value === 'string' && choices.includes(value)) return value;
		return this.reject('parameter.notAChoice', { choices: choices.join(', ') });
	}

	/** Returns text that is not blank, as {@link optionalText}. */
	text(): string {
		return this.optionalText() || this.reject('parameter.empty');
	}

	/**
	 * Returns text without invisible characters; '' if it is missing. Refuses an expression that n8n
	 * did not evaluate, because a request with it would be for something else, and might bill.
	 */
	optionalText(): string {
		if (this.isNoValueOfModel()) return '';
		const text = trimInvisible(this.toText(this.value));
		const invisible = findInvisible(text);
		if (invisible) this.rejectInvisible(invisible);
		if (EXPRESSION.test(text)) this.reject('parameter.anExpression');
		const isBroken = isNotAValue(text) || (this.settings.isTool && isPlaceholder(text));
		return isBroken ? this.rejectValue(text) : text;
	}

	/** Returns text with any characters, without blanks around it; '' if it is missing. */
	unfilteredText(): string {
		return this.isNoValueOfModel() ? '' : this.toText(this.value).trim();
	}

	/** Returns text as a query has it: dates in ISO 8601, and blanks as they are. */
	queryText(): string {
		const { value } = this;
		if (typeof value === 'boolean') return String(value);
		this.refuseInvalidDate();
		// An invalid date gives null.
		const given = writesItself(value)
			? (value.toJSON() ?? this.reject('parameter.notText'))
			: value;
		const text = this.toText(given);
		// n8n's client would take the character after half a surrogate pair for the other half.
		const loneSurrogate = findInvisible(text, /\p{Cs}/u);
		return loneSurrogate ? this.rejectInvisible(loneSurrogate) : text;
	}

	/** Returns an ID as one percent-encoded segment of a path. */
	id(): string {
		return toSegment(this.text()) ?? this.reject('parameter.notAnId');
	}

	/** Returns a path below the Base URL, percent-encoded: see {@link toPath}. */
	path(): string {
		const path = this.text();
		if (path.includes('://')) this.reject('parameter.isAnAddress');
		if (path.includes('?')) this.reject('parameter.hasQuery');
		const noValue = path.split('/').find(isNotAValue);
		if (noValue !== undefined) this.rejectValue(noValue);
		return toPath(path) ?? this.reject('parameter.notAPath');
	}

	email(): string {
		const email = this.text();
		const hasTwoSides = /[^@]@+[^@]/.test(email);
		const excess = hasTwoSides ? partBesideEmail(email) : undefined;
		if (excess) this.reject('parameter.moreThanAnEmail', { excess });
		const isEmail = EMAIL_PATTERN.test(email) && email.length <= MAX_EMAIL_LENGTH;
		return isEmail ? email : this.reject('parameter.notAnEmail');
	}

	/** Returns a key. What an expression without a value writes would be the key of each item. */
	sendOnceKey(): string {
		const key = this.text();
		return standsForNone(key) ? this.rejectValue(key) : key;
	}

	headerName(): string {
		const name = this.optionalText();
		return name === '' || HEADER_NAME.test(name) ? name : this.reject('parameter.notAHeaderName');
	}

	/** Returns dotted paths: a list, or a text that separates them, also as a list of JSON. */
	dottedPaths(): string[] {
		const { value, label, settings } = this;
		const parts = Array.isArray(value)
			? value
			: this.unfilteredText()
					.replace(/^\[([^]*)\]$/, '$1')
					.split(/[,，;\r\n]/)
					.map((part) => part.trim().replace(IN_QUOTES, '$1'));
		return parts
			.map((part) => new ParameterValue(part, label, settings).optionalText())
			.filter(Boolean);
	}

	/** Returns any value that JSON can express. */
	json(): unknown {
		this.refuseInvalidDate();
		return this.toJson(this.value);
	}

	/** Returns an object, which may be written as JSON. */
	jsonObject(): IDataObject {
		const { value } = this;
		if (value === undefined || value === null) this.reject('parameter.empty');
		const object = this.toJson(typeof value === 'string' ? this.parse(value) : value);
		return isObject(object) ? object : this.reject('parameter.notAJsonObject');
	}

	/** Returns the entries of a `fixedCollection` with one group. */
	entries(group: string): Array<[name: string, value: unknown]> {
		const groups = this.value ?? {};
		const entries: unknown = isObject(groups) ? (groups[group] ?? []) : groups;
		if (!Array.isArray(entries)) return this.reject('parameter.notAList');
		const names = new Set<string>();
		return entries.map((entry: { name?: unknown; value?: unknown } | null) => {
			const name = new ParameterValue(entry?.name, this.label, this.settings).optionalText();
			if (name === '') this.reject('parameter.unnamedEntry');
			if (names.has(name)) this.reject('parameter.sameName', { name });
			names.add(name);
			return [name, entry?.value === undefined ? '' : entry.value];
		});
	}

	/**
	 * Checks whether a model gives a word such as `null`, a name such as `<user_id>`, or an empty
	 * list, because it has no value.
	 */
	isNoValueOfModel(): boolean {
		const { value, settings } = this;
		if (!settings.isTool) return false;
		if (Array.isArray(value)) return value.length === 0;
		const text = typeof value === 'string' ? trimInvisible(value) : '';
		return saysNone(text) || (text.startsWith('<') && isPlaceholder(text));
	}

	/** @param values replace `{name}` in the texts of failures.ts */
	reject(id: FailureId, values: Failure['values'] = {}): never {
		const details = this.settings.consequence;
		throw new Failure(id, { field: this.label, ...values }, { details });
	}

	/** Refuses what n8n writes for a date that its expression could not read. */
	private refuseInvalidDate(): void {
		if (this.value === 'Invalid DateTime') this.rejectValue(this.value);
	}

	private rejectValue(text: string): never {
		return this.reject('parameter.noValue', { value: text.slice(0, MAX_SHOWN) });
	}

	private rejectInvisible({ code, before }: { code: string; before: string }): never {
		return this.reject('parameter.invisible', { code, place: placeAfter(before) });
	}

	private toText(value: unknown): string {
		if (value === undefined || value === null) return '';
		const text = exactString(value);
		if (text !== undefined) return text;
		// A finite number that is not exact was rounded.
		return this.reject(Number.isFinite(value) ? 'parameter.digitsLost' : 'parameter.notText');
	}

	private parse(json: string): unknown {
		// `trim` removes a byte order mark, too.
		const text = json.trim();
		if (text === '') this.reject('parameter.empty');
		try {
			return JSON.parse(text) as unknown;
		} catch {
			const valid = validStart(text);
			const broken = text.slice(valid.length, valid.length + 1);
			// A person sees a line break, which an expression has brought.
			const next = /[\t\r\n]/.test(broken) ? undefined : findInvisible(broken);
			const before = valid.slice(-MAX_SHOWN);
			return next
				? this.rejectInvisible({ ...next, before })
				: this.reject('parameter.brokenJson', { place: placeAfter(before) });
		}
	}

	private toJson(value: unknown): unknown {
		try {
			return toPlain(value);
		} catch (error) {
			const isRounded = error instanceof DigitsLost;
			return this.reject(isRounded ? 'parameter.digitsLost' : 'parameter.notJson');
		}
	}
}
