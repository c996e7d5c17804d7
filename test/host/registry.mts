import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { runCommand } from '../../host/command.mts';

/** The registry that n8n and npm install from by default. */
const host = 'registry.npmjs.org';

/**
 * A registry that has only what is published to it, behind a proxy that leads nowhere else. n8n takes
 * no other registry without a licence (N8N_COMMUNITY_PACKAGES_REGISTRY; getNpmRegistry in its
 * community-packages.service.ts), so it gets to this one under the usual name, the way it would get out
 * of a company's network. Verdaccio, which is a whole registry, can't be installed from every registry:
 * it depends on a version of node-fetch by a tag, and n8n's linter forbids the override that would pin it.
 *
 * @param folder for its certificate and tarballs
 */
export async function startRegistry(folder: string) {
	const altNames = [{ type: 2, value: host } as const, { type: 7, ip: '127.0.0.1' } as const];
	const { cert, private: key } = await generate([{ name: 'commonName', value: host }], {
		keySize: 2048,
		extensions: [
			{ name: 'basicConstraints', cA: true },
			{ name: 'subjectAltName', altNames },
		],
	});
	const cafile = join(folder, 'cert.pem');
	await writeFile(cafile, cert);

	/** By path, as in https://github.com/npm/registry/blob/main/docs/REGISTRY-API.md. */
	const answers: Record<string, string | Buffer> = {};
	const registry = createTlsServer({ cert, key }, ({ url }, response) => {
		const answer = answers[url!];
		response.writeHead(answer === undefined ? 404 : 200).end(answer ?? '{}');
	});
	// What n8n asks of its makers is refused.
	const proxy = createServer((_, response) => response.writeHead(502).end());
	proxy.on('connect', ({ url }, client: Socket) => {
		client.on('error', () => {});
		if (url !== `${host}:443`) return void client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
		client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
		registry.emit('connection', client);
	});
	await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
	const proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;

	const versions: Record<string, object> = {};
	return {
		/** Environment variables that lead n8n, and the npm that it runs, to it. */
		env: { HTTPS_PROXY: proxyUrl, NODE_EXTRA_CA_CERTS: cafile },
		/** An `.npmrc` with the same, for the npm that n8n 1 runs without its environment. */
		npmrc: `registry=https://${host}/\nhttps-proxy=${proxyUrl}\ncafile=${cafile}\n`,
		/** Publishes the package in a folder as its latest version; answers its manifest and tarball. */
		async publish(project: string) {
			const text = await readFile(join(project, 'package.json'), 'utf8');
			const manifest = JSON.parse(text) as { name: string; version: string };
			const { name, version } = manifest;
			const flags = ['--ignore-scripts', '--pack-destination', folder];
			await runCommand('npm', ['pack', ...flags], { cwd: project });
			const tarball = join(folder, `${name}-${version}.tgz`);
			const path = `/${name}/-/${version}.tgz`;
			versions[version] = { ...manifest, dist: { tarball: `https://${host}${path}` } };
			const latest = JSON.stringify(versions[version]);
			const whole = JSON.stringify({ name, 'dist-tags': { latest: version }, versions });
			Object.assign(answers, {
				[path]: await readFile(tarball),
				[`/${name}`]: whole,
				[`/${name}/latest`]: latest,
				[`/${name}/${version}`]: latest,
			});
			return { manifest, tarball };
		},
		close: () => proxy.close(),
	};
}
