import type { IDataObject } from 'n8n-workflow';

import { Failure, type FailureId } from './failure';
import { DigitsLost, exactString, isObject, toPlain, writesItself } from './json';
import { findInvisible, partBesideEmail, toPath, toSegment, trimInvisible } from './text';

/** Start of an expression in a text that n8n did not evaluate. */
const EXPRESSION = '{{';

/** Words that models and expressions write instead of a value that they do not have. */
const NO_VALUE = /^(null|none|nil|undefined|n\/a|nan|\[object Object\])$/i;

const EMAIL = /^[^@\s]+@[^@\s]+$/;

/** A token of RFC 9110, section 5.6.2. */
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/** Checks the value of one item's parameter, and returns it as its type. Each method throws a Failure that names the field. */
export class ParameterValue {
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
		const number = Math.floor(Number(this.optionalText() || limits.default));
		if (Number.isNaN(number)) this.reject('parameter.notANumber');
		if (number < limits.smallest) this.reject('parameter.tooSmall', { least: limits.smallest });
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
	 * Returns text without invisible characters; '' if it is missing. Refuses an expression that n8n did not evaluate, because a
	 * request with it would be for something else, and might bill.
	 */
	optionalText(): string {
		if (this.isNoValueOfModel()) return '';
		const text = trimInvisible(this.toText(this.value));
		const invisible = findInvisible(text);
		if (invisible) this.reject('parameter.invisible', invisible);
		return text.includes(EXPRESSION) ? this.reject('parameter.anExpression') : text;
	}

	/** Returns text with any characters, without blanks around it; '' if it is missing. */
	unfilteredText(): string {
		return this.toText(this.value).trim();
	}

	/** Returns text as a query has it: dates in ISO 8601, and blanks as they are. */
	queryText(): string {
		const { value } = this;
		if (typeof value === 'boolean') return String(value);
		return this.toText(writesItself(value) ? value.toJSON() : value);
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
		return toPath(path) ?? this.reject('parameter.notAPath');
	}

	email(): string {
		const email = this.optionalText();
		const excess = email.includes('@') ? partBesideEmail(email) : undefined;
		if (excess) this.reject('parameter.moreThanAnEmail', { excess });
		return EMAIL.test(email) ? email : this.reject('parameter.notAnEmail');
	}

	/** Returns a key. What an expression without a value writes would be the key of each item. */
	sendOnceKey(): string {
		const key = this.text();
		return NO_VALUE.test(key) ? this.reject('parameter.empty') : key;
	}

	headerName(): string {
		const name = this.text();
		return HEADER_NAME.test(name) ? name : this.reject('parameter.notAHeaderName');
	}

	/** Returns the dotted paths in a text that separates them by commas. */
	dottedPaths(): string[] {
		const paths = this.optionalText().split(',');
		return paths.map((path) => path.trim()).filter(Boolean);
	}

	/** Returns any value that JSON can express. */
	json(): unknown {
		return this.toJson(this.value);
	}

	/** Returns an object, which may be written as JSON. */
	jsonObject(): IDataObject {
		const { value } = this;
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
			const name = this.toText(entry?.name).trim();
			if (name === '') this.reject('parameter.unnamedEntry');
			if (names.has(name)) this.reject('parameter.sameName', { name });
			names.add(name);
			return [name, entry?.value === undefined ? '' : entry.value];
		});
	}

	/** Checks whether a model gives a word such as `null`, because it has no value. */
	isNoValueOfModel(): boolean {
		const { value, settings } = this;
		return settings.isTool && typeof value === 'string' && NO_VALUE.test(trimInvisible(value));
	}

	/** @param values replace `{name}` in the texts of failures.ts */
	reject(id: FailureId, values: Failure['values'] = {}): never {
		throw new Failure(id, { field: this.label, ...values }, { details: this.settings.consequence });
	}

	private toText(value: unknown): string {
		if (value === undefined || value === null) return '';
		const isRounded = Number.isFinite(value);
		return (
			exactString(value) ?? this.reject(isRounded ? 'parameter.digitsLost' : 'parameter.notText')
		);
	}

	private parse(json: string): unknown {
		// `trim` removes a byte order mark, too.
		const text = json.trim();
		try {
			return JSON.parse(text) as unknown;
		} catch (error) {
			const [, position = text.length] = /position (\d+)/.exec((error as Error).message) ?? [];
			const before = text.slice(0, Number(position)).slice(-30);
			return this.reject('parameter.brokenJson', { before });
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
