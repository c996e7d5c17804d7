import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runCommand } from '../../host/command.mts';
import { installHost, installPackage } from '../../host/install.mts';
import { tryLock, waitForLock } from '../../host/lock.mts';
import { cacheFolder, projectRoot } from '../../host/paths.mts';
import { freePort } from '../../host/ports.mts';

let folder: string;
const environment = { ...process.env };

beforeEach(async () => {
	folder = await mkdtemp(join(tmpdir(), 'resume-management-install-'));
});

afterEach(async () => {
	process.env = { ...environment };
	await rm(folder, { recursive: true, force: true });
});

describe('a host', () => {
	it('is asked for in a sentence without a network, and nothing half is left', async () => {
		process.env.XDG_CACHE_HOME = folder;
		process.env.npm_config_cache = join(folder, 'npm');
		process.env.npm_config_registry = `http://127.0.0.1:${await freePort()}`;

		await expect(installHost(2)).rejects.toThrow(
			/^The npm registry can't be reached: check the network connection/,
		);
		const left = await readdir(cacheFolder());
		expect(left.filter((name) => name.includes('unfinished'))).toEqual([]);
		expect(await readFile(join(cacheFolder(), 'npm-failure.log'), 'utf8')).toContain(
			'ECONNREFUSED',
		);
	});
});

describe('a package', () => {
	async function pack(content: string): Promise<string> {
		const source = join(folder, 'source');
		await mkdir(source, { recursive: true });
		const manifest = { name: 'n8n-nodes-sample', version: '1.0.0', main: 'index.js' };
		await writeFile(join(source, 'package.json'), JSON.stringify(manifest));
		await writeFile(join(source, 'index.js'), content);
		await runCommand('npm', ['pack', '--pack-destination', folder], { cwd: source });
		return join(folder, 'n8n-nodes-sample-1.0.0.tgz');
	}

	it('is replaced when its content changed under the same version', async () => {
		const user = join(folder, 'user');
		const installed = join(user, '.n8n', 'nodes', 'node_modules', 'n8n-nodes-sample', 'index.js');
		for (const content of ['// one', '// two', '// two']) {
			await installPackage(user, await pack(content));
			expect(await readFile(installed, 'utf8')).toBe(content);
		}
	});
});

describe('a lock', () => {
	it('is held by one, and handed on when its holder was killed', async () => {
		const file = join(folder, 'killed.lock');
		const module = pathToFileURL(join(projectRoot, 'host', 'lock.mts')).href;
		const script = `await (await import(${JSON.stringify(module)})).tryLock(${JSON.stringify(file)});
			console.log('held');
			setInterval(() => {}, 1_000);`;
		const holder = spawn(process.execPath, ['--input-type=module', '--eval', script], {
			stdio: ['ignore', 'pipe', 'inherit'],
		});
		await once(holder.stdout, 'data');
		expect(await tryLock(file)).toBeUndefined();
		const waiting = waitForLock(file);
		holder.kill('SIGKILL');
		(await waiting)();
	});
});
