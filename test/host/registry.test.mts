import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { installHost, packPackage } from '../../host/install.mts';
import { startN8n } from '../../host/n8n.mts';
import { packageName } from '../../host/paths.mts';
import { owner } from '../../host/workspace.mts';
import manifest from '../../package.json' with { type: 'json' };
import { TestApi } from '../support/testApi.mts';
import { testTls } from '../support/tls.mts';
import { actionType, startMilliseconds, testedHost, triggerType } from './instance.mts';

/** The only registry that n8n installs from without a licence (getNpmRegistry in its community-packages.service.ts). */
const registryHost = 'registry.npmjs.org';

/** Starts a proxy that leads to a registry with this package alone, and returns its address. */
async function startProxy(folder: string) {
	const { version } = manifest;
	const tarball = `/${packageName}/-/${version}.tgz`;
	const content = await readFile(await packPackage(folder));
	const latest = { ...manifest, dist: { tarball: `https://${registryHost}${tarball}` } };
	// All versions, and the latest one: https://github.com/npm/registry/blob/main/docs/REGISTRY-API.md
	const document = { ...latest, 'dist-tags': { latest: version }, versions: { [version]: latest } };
	const registry = createTlsServer(testTls, ({ url }, response) => {
		if (url === tarball) return response.end(content);
		response.writeHead(url!.startsWith(`/${packageName}`) ? 200 : 404);
		return response.end(JSON.stringify(document));
	});
	const proxy = createServer((_, response) => response.writeHead(502).end());
	proxy.on('connect', ({ url }, client: Socket) => {
		client.on('error', () => {});
		if (url !== `${registryHost}:443`) return void client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
		client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
		registry.emit('connection', client);
	});
	await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
	return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, proxy };
}

jest.setTimeout(startMilliseconds);

it('is installed from the registry by n8n, which then offers its nodes', async () => {
	const folder = await mkdtemp(join(tmpdir(), 'resume-management-registry-'));
	const { url, proxy } = await startProxy(folder);
	const nodes = join(folder, '.n8n', 'nodes');
	await mkdir(nodes, { recursive: true });
	// For the npm that n8n 1 runs without its environment.
	await writeFile(join(nodes, '.npmrc'), `https-proxy=${url}\nstrict-ssl=false\n`);
	const env = { HTTPS_PROXY: url, NODE_TLS_REJECT_UNAUTHORIZED: '0' };
	const n8n = await startN8n({ host: await installHost(testedHost), userFolder: folder, env });
	try {
		const api = new TestApi(n8n.url);
		await api.signIn(owner);
		const { installedNodes } = await api.installPackage(packageName);
		expect(installedNodes.map(({ type }) => type).sort()).toEqual([actionType, triggerType]);
		for (const type of [actionType, triggerType, 'resumeManagementApi']) {
			const kind = type === 'resumeManagementApi' ? 'credentials' : 'nodes';
			while (!(await api.readTypes(kind)).some(({ name }) => name === type)) await sleep(200);
		}
	} finally {
		await n8n.stop();
		proxy.close();
		await rm(folder, { recursive: true, force: true });
	}
});
