/** `npm run contract`: writes contract/public-names.json, from the built package. A test compares the file with the nodes. */
import { join } from 'node:path';
import type { INodeProperties } from 'n8n-workflow';
import { packageName, projectRoot } from '../host/paths.mts';
import { writeFormatted } from './blocks.mts';
import { builtCredentials, builtNodes } from './built.mts';

/** Properties that are no public names: texts for people, and the behaviour of a node. */
const leftOut = ['displayName', 'description', 'placeholder', 'hint', 'action', 'routing'];

/** Types of parameters without a value. */
const notices = ['notice', 'callout', 'button'];

/**
 * Returns what saved workflows rely on: names, types, defaults, choices and conditions in the descriptions of the built
 * nodes and credentials.
 */
export function readPublicNames(): object {
	const nodes = builtNodes().map((description) => {
		const { version, inputs, outputs, usableAsTool, credentials, webhooks } = description;
		const ends = { version, inputs, outputs, usableAsTool, credentials, webhooks };
		const properties = namesOf(description.properties);
		return [`${packageName}.${description.name}`, { ...ends, properties }];
	});
	const credentials = builtCredentials().map(({ name, properties }) => [name, namesOf(properties)]);
	return JSON.parse(JSON.stringify(Object.fromEntries([...nodes, ...credentials]))) as object;
}

function namesOf(properties: INodeProperties[]): unknown {
	const kept = properties.filter(({ type }) => !notices.includes(type));
	return JSON.parse(JSON.stringify(kept), (key, value: unknown) => {
		if (leftOut.includes(key)) return undefined;
		// The name of an option is its label.
		if (typeof value === 'object' && value !== null && 'name' in value && 'value' in value) {
			return { ...value, name: undefined };
		}
		return value;
	});
}

if (import.meta.main) {
	const file = join(projectRoot, 'contract', 'public-names.json');
	await writeFormatted(file, JSON.stringify(readPublicNames()));
}
