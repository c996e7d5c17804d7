import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { installHost } from '../../host/install.mts';
import { projectRoot } from '../../host/paths.mts';
import { freePort } from '../../host/ports.mts';
import { reportTo } from '../../host/progress.mts';
import { EditorApi, type NodeTypeSummary } from '../../host/rest.mts';
import { owner } from '../../host/workspace.mts';
import { actionType, startMilliseconds } from './instance.mts';
import { launch, type Launcher } from './launcher.mts';

/** Of the project, what `npm run dev` reads. */
const parts = [
	...['credentials', 'dist', 'gulpfile.js', 'host', 'icons', 'nodes', 'package.json', 'sandbox'],
	...['tsconfig.json', 'workflows', 'README.md', 'LICENSE.md'],
];

let folder: string;
let checkout: string;
let launcher: Launcher;
let api: EditorApi;

beforeAll(async () => {
	await installHost(2, reportTo(process.stderr));
	folder = await mkdtemp(join(tmpdir(), 'resume-management-dev-'));
	// Its sources are changed here, and other tests read those of the project.
	checkout = join(folder, 'checkout');
	const options = { recursive: true, preserveTimestamps: true };
	for (const part of parts) await cp(join(projectRoot, part), join(checkout, part), options);
	await symlink(join(projectRoot, 'node_modules'), join(checkout, 'node_modules'));
	const port = await freePort();
	const ports = ['--port', String(port), '--sandbox-port', String(await freePort())];
	launcher = launch(checkout, folder, '--watch', ...ports);
	await launcher.written();
	await launcher.written('✓ Compiled');
	api = new EditorApi(`http://127.0.0.1:${port}`);
	await api.signIn(owner);
}, startMilliseconds);

afterAll(async () => {
	launcher?.child.kill('SIGINT');
	expect(await launcher?.exit).toBe(0);
	await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}, 60_000);

async function change(file: string, from: string, to: string): Promise<void> {
	const path = join(checkout, file);
	const before = await readFile(path, 'utf8');
	const after = before.replace(from, to);
	expect(after).not.toBe(before);
	await writeFile(path, after);
}

async function whenNode(isSo: (node: NodeTypeSummary) => boolean): Promise<void> {
	for (;;) {
		// While n8n writes the file that it serves, an answer can be cut short, or longer than announced.
		const types: unknown = await api.nodeTypes().catch(() => undefined);
		const all = Array.isArray(types) ? (types as NodeTypeSummary[]) : [];
		const node = all.find(({ name }) => name === actionType);
		if (node && isSo(node)) return;
		await sleep(200);
	}
}

const description = 'nodes/ResumeManagement/ResumeManagement.node.ts';

it('shows a change of the sources in n8n, and keeps what works while they do not compile', async () => {
	await change(description, "displayName: 'Resume Management'", "displayName: 'First Change'");
	await whenNode(({ displayName }) => displayName === 'First Change');

	await change(description, "displayName: 'First Change'", 'displayName: 5');
	await launcher.written('✗ Not compiled: n8n keeps what it has');
	expect(launcher.text()).toContain("Type 'number' is not assignable to type 'string'");
	await whenNode(({ displayName }) => displayName === 'First Change');

	await change(description, 'displayName: 5', "displayName: 'Second Change'");
	await whenNode(({ displayName }) => displayName === 'Second Change');

	await change('nodes/ResumeManagement/ResumeManagement.node.json', '"cv"', '"vita"');
	await whenNode(({ codex }) => codex?.alias?.includes('vita') ?? false);
}, 180_000);

it('says why n8n could not load a change, and goes on', async () => {
	const resources = 'nodes/ResumeManagement/operations/index.ts';
	await change(resources, 'import ', "throw new Error('no such luck');\nimport ");
	await launcher.written("✗ n8n can't load the package: no such luck");

	await change(resources, "throw new Error('no such luck');\n", '');
	await change(description, "displayName: 'Second Change'", "displayName: 'Third Change'");
	await whenNode(({ displayName }) => displayName === 'Third Change');
}, 180_000);
