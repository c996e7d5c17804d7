/**
 * Compares what saved workflows rely on with the snapshot: names, types, defaults, choices and conditions. `npm run contract`
 * accepts a change. If a commit removes something from the snapshot, the next version is a new major one.
 */
import { inspect } from 'node:util';
import { builtCredentials, builtNodes } from '../../scripts/built.mts';

/** Properties that are no public names: texts for people, and the behaviour of a node. */
const leftOut = ['displayName', 'description', 'placeholder', 'hint', 'action', 'routing'];

/** Types of parameters without a value. */
const notices = ['notice', 'callout', 'button'];

function publicPart(key: string, value: unknown): unknown {
	if (leftOut.includes(key)) return undefined;
	if (key === 'properties') {
		return (value as Array<{ type: string }>).filter(({ type }) => !notices.includes(type));
	}
	// The name of an option is its label.
	const isOption =
		typeof value === 'object' && value !== null && 'name' in value && 'value' in value;
	return isOption ? { ...value, name: undefined } : value;
}

/** Returns the public part as text. Jest's own format has a line for each bracket. */
function publicNames(described: object): string {
	const names: unknown = JSON.parse(JSON.stringify(described, publicPart));
	return inspect(names, {
		depth: null,
		maxArrayLength: null,
		maxStringLength: null,
		breakLength: 100,
	});
}

test.each(builtNodes())('saved workflows can rely on the names of the node $name', (node) => {
	const { version, inputs, outputs, usableAsTool, credentials, webhooks, properties } = node;
	const described = { version, inputs, outputs, usableAsTool, credentials, webhooks, properties };
	expect(publicNames(described)).toMatchSnapshot();
});

test.each(builtCredentials())(
	'saved workflows can rely on the names of the credential $name',
	({ properties }) => {
		expect(publicNames({ properties })).toMatchSnapshot();
	},
);
