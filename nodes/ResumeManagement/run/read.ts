import type { Pagination } from '../output/pages';
import type { Output } from '../output/shape';
import type { Call, Operation, UserByEmail } from './call';
import type { Parameters } from './parameters';
import type { Run } from './perform';

/** How often a request is repeated, where the user sets no other number. */
const RETRIES = 2;

/**
 * Reads and checks all that an item says: its parameters, its credential, and the user behind an e-mail
 * address.
 * @throws Failure, or what n8n throws for an expression; what the item asks for was not sent then
 */
export async function readCall(run: Run, parameters: Parameters, index: number): Promise<Call> {
	const { operation } = run;
	const { method, path, query, body, isoTimestamps, ...settings } = operation.read(parameters);
	const output = OUTPUTS[operation.answer](parameters, operation, isoTimestamps);
	const retries = operation.write ? RETRIES : parameters.count('options.retries', RETRIES);
	const credential = await run.credentials.read(index);
	const idOf = async (user: UserByEmail) => await run.users.idOf(user, credential, retries);
	return {
		...settings,
		index,
		operation,
		credential,
		request: {
			method: method ?? operation.method,
			path: await fillPath(operation.path, path, idOf),
			query,
			...(body && { body: JSON.stringify(body) }),
			write: operation.write ?? false,
			retries,
			file: operation.answer === 'file',
		},
		output,
	};
}

/** For each kind of answer: which parameters it takes. */
const OUTPUTS: Record<
	Operation['answer'],
	(parameters: Parameters, operation: Operation, isoTimestamps?: string[]) => Output
> = {
	record: (parameters, _, isoTimestamps) => ({
		kind: 'record',
		...readItemSettings(parameters),
		isoTimestamps,
	}),

	list: (parameters, { path }) => ({
		kind: 'list',
		...readItemSettings(parameters),
		limit: parameters.flag('returnAll', false) ? Infinity : parameters.count('limit', 50, 1),
		path: parameters.optionalText('options.itemsPath'),
		name: path.split('/').at(-1)!,
		advice: SET_ITEMS_PATH,
		option: 'the option Pagination',
		pagination: readPagination(parameters, 'pagination'),
	}),

	file: (parameters) => ({
		kind: 'file',
		field: parameters.text('binaryPropertyName'),
		fileName: parameters.optionalText('options.fileName'),
		filePath: parameters.optionalText('options.filePath'),
	}),
};

function readItemSettings(parameters: Parameters) {
	return {
		simplify: parameters.flag('simplify', true),
		fields: parameters.paths('options.fieldsToReturn'),
	};
}

const SET_ITEMS_PATH =
	'Set Items Path in Options to the place of the list, such as data.users, or switch off Simplify to see the answer whole.';

/**
 * Reads the option of this name, where it is added.
 * @throws Failure naming the field
 */
export function readPagination(parameters: Parameters, name: string): Pagination | undefined {
	const option = `options.${name}.pagination`;
	if (!parameters.get<unknown>(option, null)) return undefined;
	const mode = parameters.get<Pagination['mode']>(`${option}.mode`, 'pageNumber');
	const sizeName = parameters.optionalText(`${option}.sizeParameterName`);
	const first = mode === 'offset' ? ['firstOffset', 0] : ['firstPage', 1];
	return {
		mode,
		parameter: parameters.text(`${option}.parameterName`),
		start:
			mode === 'cursor' ? undefined : parameters.count(`${option}.${first[0]}`, Number(first[1])),
		cursorPath: mode === 'cursor' ? parameters.text(`${option}.cursorPath`) : '',
		size: sizeName ? { [sizeName]: parameters.count(`${option}.pageSize`, 100, 1) } : {},
		maxPages: parameters.count(`${option}.maxPages`, 100, 1),
	};
}

/** Puts values into the specification's path, such as `/user/:userID`. */
async function fillPath(
	path: string,
	values: Record<string, string | UserByEmail> = {},
	idOf: (user: UserByEmail) => Promise<string>,
): Promise<string> {
	let filled = path;
	for (const [name, value] of Object.entries(values)) {
		const text = typeof value === 'string' ? value : await idOf(value);
		filled = filled.replace(`:${name}`, () => text);
	}
	return filled;
}
