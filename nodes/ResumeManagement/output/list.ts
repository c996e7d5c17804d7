import { isObject, valueAt } from '../../shared/json';
import { plainName } from '../../shared/names';
import { Failure, type FailureId } from '../../shared/failure';
import type { AnswerBody } from '../http/judge';
import type { ItemSettings } from './items';

/** Where an answer holds its list. */
export interface ListPlace {
	/** '' to find it. */
	path: string;
	/** What the list is called: the last word of its address, such as `users`. */
	name: string;
	/** Whether only a list of this name counts, for what must not be guessed. */
	onlyByName?: boolean;
	/** What the user can do if it is not found. */
	advice: string;
}

/** How an item's parameters say that its list is read. */
export interface ListSettings extends ListPlace, ItemSettings {
	/** How many elements the user wants; Infinity for all. */
	limit: number;
	/** The option for reading page by page, as messages name it. */
	option: string;
}

/** A list in an answer. */
export interface FoundList {
	/** '' for the answer itself. */
	path: string;
	elements: unknown[];
}

/** Of one answer. Each becomes an item, which takes far more memory than a `0,` in an array. */
const MOST_RECORDS = 200_000;

/** @throws Failure when there is no list, when several may be meant, or when it is too long */
export function findList(answer: AnswerBody, place: ListPlace): FoundList {
	const found = lookFor(answer, place);
	if (typeof found === 'string') {
		const { path, advice } = place;
		throw new Failure(found, { path, advice, properties: propertiesOf(answer) });
	}
	const records = found.elements.length;
	if (records > MOST_RECORDS) throw new Failure('list.tooLong', { records, most: MOST_RECORDS });
	return found;
}

/**
 * The specification does not show where an answer holds its list (§4.2). So it is taken from the path
 * that the user gave, or from where it is expected: the answer, `data`, or what is called like the list
 * in one of them. Any other array is the list only where it is the only one, as the service may add
 * properties anywhere (§9), and empty ones may be filled later; and only where none of these places holds
 * something else.
 * @returns the list, or why there is none
 */
export function lookFor(
	answer: AnswerBody,
	{ path, name, onlyByName }: ListPlace,
): FoundList | FailureId {
	if (path) {
		const elements = valueAt(answer, path);
		return Array.isArray(elements) ? { path, elements } : 'list.notAtPath';
	}
	const lists = listsIn(answer);
	const expected = lists.filter(
		(list) => ['', 'data'].includes(list.path) || plainName(list.called) === name,
	);
	const isElsewhere = onlyByName || hasOther(answer, name);
	const [list, ...others] = expected.length > 0 || isElsewhere ? expected : lists;
	if (!list) return 'list.none';
	const isAnother = ({ elements }: FoundList) =>
		expected.length === 0 || JSON.stringify(elements) !== JSON.stringify(list.elements);
	return others.some(isAnother) ? 'list.several' : list;
}

/** Whether the place of the list holds something else: `null`, or an object in place of an array. */
function hasOther(answer: AnswerBody, name: string): boolean {
	if (Array.isArray(answer)) return false;
	const { data } = answer;
	const names = [answer, data].filter(isObject).flatMap(Object.keys);
	if (names.some((one) => plainName(one) === name)) return true;
	return data !== undefined && !Object.values(isObject(data) ? data : {}).some(Array.isArray);
}

function listsIn(answer: AnswerBody): Array<FoundList & { called: string }> {
	if (Array.isArray(answer)) return [{ path: '', called: '', elements: answer }];
	const listsOf = (value: unknown, prefix: string) =>
		Object.entries(isObject(value) ? value : {}).flatMap(([called, elements]) =>
			Array.isArray(elements) ? [{ path: `${prefix}${called}`, called, elements }] : [],
		);
	return [...listsOf(answer, ''), ...listsOf(answer.data, 'data.')];
}

function propertiesOf(answer: AnswerBody): string {
	const names = Array.isArray(answer) ? [] : Object.keys(answer);
	return names.slice(0, 20).join(', ');
}
