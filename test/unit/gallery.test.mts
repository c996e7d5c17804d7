import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { INode } from 'n8n-workflow';
import type { WorkflowDefinition } from '../../host/rest.mts';
import { picturedFile, versionsNow } from '../support/gallery.mts';
import { projectRoot } from '../../host/paths.mts';

test('the pictures show the example workflows as they are; `UPDATE_SCREENSHOTS=1 npm run test:browser` takes them', async () => {
	expect(JSON.parse(readFileSync(picturedFile, 'utf8'))).toEqual(await versionsNow());
});

const folder = join(projectRoot, 'workflows');
const files = readdirSync(folder).map((name) => basename(name, '.json'));

/** Two examples ask a person, and remember what was answered. */
const mostNodes = (file: string) =>
	['upgrades-from-file', 'settle-open-upgrades'].includes(file) ? 18 : 12;
const mostLines = 60;
const mostColumns = 120;

/** n8n opens a canvas at a zoom at which all of it is seen: measured in a window with room for 934 by 768 pixels. */
const room = { width: 934, height: 768 };
/** Pixels of a subtitle at zoom 1, which is the smallest text of a node, and the fewest that can be read. */
const [subtitle, readable] = [13, 10];
const isWide = (type: string) => /agent$|mcpTrigger$/i.test(type);

/** A name is said aloud: what the node does, to what. */
const verb =
	/^(Add|Ask|Check|Choose|Collect|Compare|Count|Decide|Fail|Find|Give|Group|Hash|Judge|Keep|List|Make|Mark|Match|Name|Pick|Prepare|Read|Report|Return|Save|Say|Show|Skip|Sort|Split|Sum|Take|Tell|Turn|Write) /;

test.each(files)('%s is a chain that a person can say aloud', (file) => {
	const text = readFileSync(join(folder, `${file}.json`), 'utf8');
	const { nodes, connections } = JSON.parse(text) as WorkflowDefinition;
	const found: string[] = [];

	const onCanvas = nodes.filter(({ type }) => type !== 'n8n-nodes-base.stickyNote');
	if (onCanvas.length > mostNodes(file))
		found.push(`${onCanvas.length} nodes, at most ${mostNodes(file)}`);

	/** The nodes before each node. A tool runs within its agent, so what leads to the agent leads to the tool. */
	const before = new Map(nodes.map(({ name }) => [name, new Set<string>()]));
	for (const [from, byType] of Object.entries(connections)) {
		for (const [type, outputs] of Object.entries(byType)) {
			for (const wire of outputs.flatMap((wires) => wires ?? [])) {
				before.get(wire.node)!.add(from);
				if (type !== 'main') before.get(from)!.add(wire.node);
			}
		}
	}
	/** Checks whether wires lead from one node to another. */
	const leads = (from: string, to: string, seen = new Set<string>()): boolean =>
		[...before.get(to)!].some((node) => {
			if (node === from) return true;
			return !seen.has(node) && leads(from, node, seen.add(node));
		});

	const codes = nodes.filter(({ type }) => type === 'n8n-nodes-base.code');
	const isCode = (name: string) => codes.some((node) => node.name === name);
	for (const { name, parameters } of codes) {
		const lines = String(parameters.jsCode).trim().split('\n');
		if (lines.length > mostLines)
			found.push(`${name}: ${lines.length} lines, at most ${mostLines}`);
		if (lines.some((line) => line.length > mostColumns))
			found.push(`${name}: a line of more than ${mostColumns} characters`);
		if (lines.length > 5 && !lines.some((line) => /^\s*\/[/*]/.test(line)))
			found.push(`${name}: no comment says what its steps do`);
		if (!verb.test(`${name} `)) found.push(`${name}: the name does not begin with a verb`);
		for (const earlier of before.get(name)!)
			if (isCode(earlier)) found.push(`${earlier} and ${name}: two Code nodes in a row`);
	}

	/** The right or the lower edge of a node. A node is 96 wide, and 96 high, with its name and subtitle 146. */
	const edge = ({ type, position, parameters: { width, height } }: INode, axis: 0 | 1) =>
		position[axis] + Number((axis ? height : width) ?? (axis ? 146 : isWide(type) ? 224 : 96));
	const extent = (axis: 0 | 1) =>
		Math.max(...nodes.map((node) => edge(node, axis))) -
		Math.min(...nodes.map(({ position }) => position[axis]));
	const zoom = Math.min(room.width / extent(0), room.height / extent(1), 1);
	if (zoom * subtitle < readable)
		found.push(`${extent(0)} × ${extent(1)}: texts of ${(zoom * subtitle).toFixed(1)} pixels`);

	for (const { name, parameters, onError } of onCanvas) {
		const read = JSON.stringify(parameters).matchAll(
			/\$(?:node\[|items\(|\()\\?['"](.+?)\\?['"][\])]/g,
		);
		if (/\$\((?!\\?['"])/.test(JSON.stringify(parameters)))
			found.push(`${name}: reads a node whose name is not written there`);
		for (const other of new Set(Array.from(read, ([, other]) => other!)))
			if (!leads(other, name)) found.push(`${name} reads ${other}, from which no wire leads to it`);
		const outputs = connections[name]?.main ?? [];
		if (onError === 'continueErrorOutput' && (outputs.length < 2 || !outputs.at(-1)?.length))
			found.push(`${name}: no wire leads from its error output`);
	}
	expect(found).toEqual([]);
});
