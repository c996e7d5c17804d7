/**
 * Compares what saved workflows rely on with the snapshot: names, types, defaults, choices and conditions. `npm run contract`
 * accepts a change. It accepts a removal only if the changelog says so: the next version is then a new major one, which
 * `npm run release` checks. Before the first release, nothing is public, and a removal is only listed.
 */
import { inspect, isDeepStrictEqual } from 'node:util';
import { runInNewContext } from 'node:vm';
import manifest from '../../package.json' with { type: 'json' };
import { builtCredentials, builtNodes } from '../../scripts/built.mts';
import { read } from '../support/files.mts';

/** Properties that are no public names: texts for people and models, and the behaviour of a node. */
const leftOut = /^(displayName|description|placeholder|hint|builderHint|action|routing)$/;

/** Types of parameters without a value. */
const notices = ['notice', 'callout', 'button'];

type Fields = Record<string, unknown>;

function publicPart(key: string, value: unknown): unknown {
	if (leftOut.test(key)) return undefined;
	if (key === 'properties') {
		return (value as Array<{ type: string }>).filter(({ type }) => !notices.includes(type));
	}
	if (typeof value !== 'object' || value === null) return value;
	const { name, ...fields } = value as Fields;
	// The name of an option is its label, and this default is the text that a model reads.
	if ('value' in fields) return fields;
	return name === 'toolDescription' ? { ...value, default: undefined } : value;
}

/** Snapshots before this run, as texts of JavaScript. */
const snapshots: Record<string, string> = {};
const file = 'test/unit/__snapshots__/contract.test.mts.snap';
runInNewContext(read(file), { exports: snapshots });

/** Returns what is gone or has another value now, and where a field is newly required or newly hidden. */
function lost(before: unknown, now: unknown, name = ''): string[] {
	if (isDeepStrictEqual(before, now)) return [];
	if (Array.isArray(before) && Array.isArray(now)) {
		const gone = before.filter((one) => !now.some((other) => lost(one, other).length === 0));
		return gone.map(
			(one) => `${name}: ${inspect(one, { depth: 4, breakLength: 1e5, compact: 9 })}`,
		);
	}
	if (!(before instanceof Object && now instanceof Object)) return [`${name}: ${inspect(before)}`];
	const keys = new Set([...Object.keys(before), 'required', 'displayOptions']);
	return [...keys].flatMap((key) => lost((before as Fields)[key], (now as Fields)[key], key));
}

const [unreleased] = /^## \[Unreleased\].*?(?=^## |(?![^]))/ms.exec(read('CHANGELOG.md'))!;
const mayRemove = manifest.version === '0.0.0' || /^### Removed$/m.test(unreleased);

function expectPublicNames(described: object): void {
	const names: unknown = JSON.parse(JSON.stringify(described, publicPart));
	const snapshot = snapshots[`${expect.getState().currentTestName} 1`] ?? '"{}"';
	const before = runInNewContext(`JSON.stringify(${snapshot.trim().slice(1, -1)})`) as string;
	const gone = lost(JSON.parse(before), names).join('\n');
	const advice = 'If this is meant, list it under "### Removed" in CHANGELOG.md';
	const message = `Saved workflows rely on what is gone or has changed. ${advice}:\n${gone}`;
	if (gone && !mayRemove) throw new Error(message);
	if (gone) console.warn(message);
	// Jest's own format has a line for each bracket.
	const format = { depth: null, maxArrayLength: null, maxStringLength: null, breakLength: 100 };
	expect(inspect(names, format)).toMatchSnapshot();
}

test.each(builtNodes())('saved workflows can rely on the names of the node $name', (node) => {
	const { version, inputs, outputs, usableAsTool, credentials, webhooks, properties } = node;
	const described = { version, inputs, outputs, usableAsTool, credentials, webhooks, properties };
	expectPublicNames(described);
});

test.each(builtCredentials())(
	'saved workflows can rely on the names of the credential $name',
	({ properties }) => expectPublicNames({ properties }),
);
