import type { ICredentialType, INodeProperties, INodeType } from 'n8n-workflow';
import { loadClass, readManifest } from './builtPackage.mts';

/** Properties that are no public names: texts for people, and the behaviour of a node. */
const leftOut = ['displayName', 'description', 'placeholder', 'hint', 'action', 'routing'];

/** Types of parameters without a value. */
const notices = ['notice', 'callout', 'button'];

/**
 * Returns what saved workflows rely on: names, types, defaults, choices and conditions in the descriptions of a built
 * package's nodes and credentials.
 */
export function readPublicNames(packageFolder: string): object {
	const { name, n8n } = readManifest(packageFolder);
	const nodes = n8n.nodes.map((file) => {
		const { description } = loadClass<INodeType>(packageFolder, file);
		const { version, inputs, outputs, usableAsTool, credentials, webhooks } = description;
		const ends = { version, inputs, outputs, usableAsTool, credentials, webhooks };
		const properties = namesOf(description.properties);
		return [`${name}.${description.name}`, { ...ends, properties }];
	});
	const credentials = n8n.credentials.map((file) => {
		const credential = loadClass<ICredentialType>(packageFolder, file);
		return [credential.name, namesOf(credential.properties)];
	});
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
