import { isDeepStrictEqual } from 'node:util';
import type {
	Conditions,
	CredentialUse,
	Json,
	NodeNames,
	Parameter,
	PublicNames,
	Visibility,
} from './publicNames.mts';

/**
 * Everything that `frozen` promised and `current` breaks, in sentences: what was removed or renamed,
 * has another type or default, became required, accepts less, or is shown in fewer cases.
 */
export function findNarrowings(frozen: PublicNames, current: PublicNames): string[] {
	const found = [
		...pairs(frozen.nodes, current.nodes, 'Node type', nodeNarrowings),
		...pairs(frozen.credentials, current.credentials, 'Credential type', (name, was, is) =>
			parameterNarrowings(name, { versions: [], frozen: was, current: is }),
		),
	];
	return [...new Set(found)];
}

/** Compares what stands under the same name, and reports names that are gone. */
function pairs<Value>(
	frozen: Record<string, Value>,
	current: Record<string, Value>,
	kind: string,
	compare: (name: string, was: Value, is: Value) => string[],
): string[] {
	return Object.entries(frozen).flatMap(([name, was]) => {
		const is = current[name];
		return is === undefined ? [`${kind} ${name} is gone.`] : compare(name, was, is);
	});
}

function nodeNarrowings(name: string, was: NodeNames, is: NodeNames): string[] {
	const level: Level = { versions: was.versions, frozen: was.parameters, current: is.parameters };
	return [
		...gone(`${name}: version`, was.versions, is.versions),
		...(isDeepStrictEqual(is.inputs, was.inputs) ? [] : [`${name} has other inputs.`]),
		// A further output leaves the wires of the others where they are.
		...(isDeepStrictEqual(is.outputs.slice(0, was.outputs.length), was.outputs)
			? []
			: [`${name} has other outputs.`]),
		...(was.usableAsTool && !is.usableAsTool ? [`${name} is no longer a tool.`] : []),
		...gone(`${name}: webhook`, was.webhooks, is.webhooks),
		...was.credentials.flatMap((use) => credentialNarrowings(name, use, is.credentials, level)),
		...is.credentials.flatMap((use) =>
			demandsOf(`${name}: credential ${use.name}`, use, was.credentials, level),
		),
		...parameterNarrowings(name, level),
		...pairs(was.output ?? {}, is.output ?? {}, `${name}: output of`, (file, fields, now) =>
			gone(`${name}: output of ${file}: field`, fields, now),
		),
	];
}

function credentialNarrowings(
	node: string,
	was: CredentialUse,
	current: CredentialUse[],
	level: Level,
): string[] {
	const title = `${node}: credential ${was.name}`;
	const named = current.filter(({ name }) => name === was.name);
	if (named.length === 0) return [`${title} is gone.`];
	return cells(was.show, level.versions).flatMap((cell) => {
		const shown = named.filter((one) => covers(one, cell, was.hide, level, level));
		if (shown.length === 0) return [`${title} is not shown any more${where(cell)}.`];
		if (was.required || shown.some(({ required }) => !required)) return [];
		return [`${title} became required${where(cell)}.`];
	});
}

/** Parameters that stand beside each other, which conditions refer to by their names. */
interface Level {
	/** Frozen versions of the node; a credential has none. */
	versions: number[];
	frozen: Parameter[];
	current: Parameter[];
}

/** @param root the level that references with a leading slash mean */
function parameterNarrowings(title: string, level: Level, root = level): string[] {
	return [
		...level.frozen.flatMap((was) => narrowingsOf(title, was, level, root)),
		...level.current
			.filter((is) => isEmpty(is.default))
			.flatMap((is) => demandsOf(`${title}: ${is.name}`, is, level.frozen, level)),
	];
}

function narrowingsOf(title: string, was: Parameter, level: Level, root: Level): string[] {
	const path = `${title}: ${was.name}`;
	const named = level.current.filter(({ name }) => name === was.name);
	if (named.length === 0) return [`${path} is gone.`];
	return cells(was.show, level.versions).flatMap((cell) => {
		const shown = named.filter((one) => covers(one, cell, was.hide, level, root));
		// One parameter may be declared for several cases; the one that keeps most of the promise counts.
		const [least] = shown
			.map((is) => changesOf(path, where(cell), was, is, root))
			.sort((a, b) => a.length - b.length);
		return least ?? [`${path} is not shown any more${where(cell)}.`];
	});
}

function changesOf(
	path: string,
	place: string,
	was: Parameter,
	is: Parameter,
	root: Level,
): string[] {
	if (is.type !== was.type) return [`${path} was of type ${was.type}, is ${is.type}${place}.`];
	const { versions } = root;
	const inside = (title: string, frozen: Parameter[], current: Parameter[]) =>
		parameterNarrowings(title, { versions, frozen, current }, root);
	const narrower = (limit: string) => `${path} has a narrower ${limit}${place}.`;
	return [
		...(isDeepStrictEqual(is.default, was.default)
			? []
			: [`${path} had the default ${text(was.default)}, has ${text(is.default)}${place}.`]),
		...(is.required && !was.required ? [`${path} became required${place}.`] : []),
		...(is.noDataExpression && !was.noDataExpression
			? [`${path} takes no expression any more${place}.`]
			: []),
		...(is.multipleValues === was.multipleValues
			? []
			: [`${path} holds ${is.multipleValues ? 'a list' : 'no list any more'}${place}.`]),
		...((is.minValue ?? -Infinity) > (was.minValue ?? -Infinity) ? [narrower('minimum')] : []),
		...((is.maxValue ?? Infinity) < (was.maxValue ?? Infinity) ? [narrower('maximum')] : []),
		...(was.values === undefined ? [] : gone(`${path}: value`, was.values, is.values ?? [], place)),
		...(was.modes === undefined ? [] : gone(`${path}: mode`, was.modes, is.modes ?? [], place)),
		...inside(path, was.fields ?? [], is.fields ?? []),
		...pairs(was.groups ?? {}, is.groups ?? {}, `${path}: group`, (group, one, other) =>
			inside(`${path}.${group}`, one, other),
		),
	];
}

/** What saved workflows lack may not be demanded of them. */
function demandsOf<Kind extends { name: string; required?: true } & Visibility>(
	title: string,
	is: Kind,
	frozen: Kind[],
	level: Level,
): string[] {
	if (!is.required) return [];
	const named = frozen.filter(({ name }) => name === is.name);
	return cells(is.show, level.versions)
		.filter((cell) => existed(cell, level))
		.filter((cell) => !named.some(({ show }) => holds(show ?? {}, cell)))
		.map((cell) => `${title} is required where it was not there before${where(cell)}.`);
}

function isEmpty(value: Json): boolean {
	if (typeof value !== 'object' || value === null) return value === '' || value === null;
	if (Array.isArray(value)) return value.length === 0;
	return isEmpty(value.value ?? '');
}

/** One case out of those in which something is shown: a value for each parameter that matters. */
type Cell = Record<string, Json>;

function cells(show: Conditions = {}, versions: number[]): Cell[] {
	const all = versions.length > 0 ? { [versionReference]: versions, ...show } : show;
	return Object.entries(all).reduce<Cell[]>(
		(sofar, [name, values]) =>
			sofar.flatMap((cell) => values.map((value) => ({ ...cell, [name]: value }))),
		[{}],
	);
}

/** How conditions name the version of the node. */
const versionReference = '@version';

/** Whether `is` is shown in all of a case, apart from what `hide` took away before. */
function covers(
	is: Visibility,
	cell: Cell,
	hide: Conditions = {},
	level: Level,
	root: Level,
): boolean {
	const valueOf = (name: string) => cell[name] ?? defaultOfNew(name, level, root);
	const shown = Object.entries(is.show ?? {}).every(([name, values]) => {
		const value = valueOf(name);
		return value !== undefined && includes(values, value);
	});
	const kept = Object.entries(is.hide ?? {}).every(([name, values]) => {
		const value = valueOf(name);
		if (value !== undefined && !includes(values, value)) return true;
		return values.every((one) => includes(hide[name] ?? [], one));
	});
	return shown && kept;
}

/** A workflow that was saved before a parameter existed runs with the parameter's default. */
function defaultOfNew(reference: string, level: Level, root: Level): Json | undefined {
	const { frozen, current } = reference.startsWith('/') ? root : level;
	const name = reference.replace(/^\//, '');
	if (frozen.some((one) => one.name === name)) return undefined;
	return current.find((one) => one.name === name)?.default;
}

/** Whether the frozen parameters allow a case. */
function existed(cell: Cell, { versions, frozen, current }: Level): boolean {
	return Object.entries(cell).every(([reference, value]) => {
		if (reference === versionReference) return includes(versions, value);
		const named = frozen.filter(({ name }) => name === reference);
		if (named.length > 0) {
			return named.some(
				({ values, show }) =>
					mayHold(show ?? {}, cell) && (values === undefined || includes(values, value)),
			);
		}
		const added = current.find(({ name }) => name === reference);
		return added === undefined || isDeepStrictEqual(added.default, value);
	});
}

/** Whether conditions hold throughout a case. */
function holds(show: Conditions, cell: Cell): boolean {
	return Object.entries(show).every(([name, values]) => {
		const value = cell[name];
		return value !== undefined && includes(values, value);
	});
}

/** Whether a case does not rule conditions out. */
function mayHold(show: Conditions, cell: Cell): boolean {
	return Object.entries(show).every(([name, values]) => {
		const value = cell[name];
		return value === undefined || includes(values, value);
	});
}

function gone(title: string, was: Json[], is: Json[], place = ''): string[] {
	return was
		.filter((one) => !includes(is, one))
		.map((one) => `${title} ${text(one)} is gone${place}.`);
}

function includes(values: Json[], value: Json): boolean {
	return values.some((one) => isDeepStrictEqual(one, value));
}

function where(cell: Cell): string {
	const facts = Object.entries(cell).map(([name, value]) => `${name} ${text(value)}`);
	return facts.length === 0 ? '' : ` (${facts.join(', ').replace(versionReference, 'version')})`;
}

function text(value: Json): string {
	return typeof value === 'string' && value !== '' ? value : JSON.stringify(value);
}
