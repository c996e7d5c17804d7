import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installHost } from '../../host/install.mts';
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

it('asks for a network in a sentence, and leaves nothing unfinished', async () => {
	process.env.XDG_CACHE_HOME = folder;
	process.env.npm_config_cache = join(folder, 'npm');
	process.env.npm_config_registry = `http://127.0.0.1:${await freePort()}`;

	await expect(installHost(2)).rejects.toThrow(
		/^The npm registry can't be reached: check the network connection[^]*ECONNREFUSED/,
	);
	expect(await readdir(cacheFolder())).toEqual(['n8n-2.lock']);
});

it('gives the lock of a killed process to the next one', async () => {
	const file = join(folder, 'killed.lock');
	const script = `await (await import(${JSON.stringify(join(projectRoot, 'host', 'lock.mts'))})).tryLock(${JSON.stringify(file)});
		console.log('locked');
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
