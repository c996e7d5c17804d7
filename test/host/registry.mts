import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import fastify from 'fastify';
import { generate } from 'selfsigned';
import { runCommand } from '../../host/command.mts';

/** The registry that n8n and npm install from by default. */
const host = 'registry.npmjs.org';

/** registry.npmjs.org as a test wants it, on the loopback address. */
export interface Registry {
	/** Environment variables that lead n8n, and the npm that it runs, to it. */
	env: Record<string, string>;
	/** An `.npmrc` with the same, for the npm that n8n 1 runs without its environment. */
	npmrc: string;
	/** Publishes a package, a folder, as its latest version; answers the path of its tarball. */
	publish(project: string): Promise<string>;
	close(): Promise<void>;
}

/**
 * A registry that has only what is published to it, behind a proxy that leads nowhere else. n8n takes
 * no other registry without a licence (N8N_COMMUNITY_PACKAGES_REGISTRY; getNpmRegistry in its
 * community-packages.service.ts), so it gets to this one under the usual name, the way it would get out
 * of a company's network.
 *
 * @param folder for its certificate and tarballs
 */
export async function startRegistry(folder: string): Promise<Registry> {
	const altNames = [{ type: 2, value: host } as const, { type: 7, ip: '127.0.0.1' } as const];
	const { cert, private: key } = await generate([{ name: 'commonName', value: host }], {
		keySize: 2048,
		extensions: [
			{ name: 'basicConstraints', cA: true },
			{ name: 'subjectAltName', altNames },
		],
	});
	const registry = await startServer(folder, { cert, key });
	const proxy = await startProxy(registry.port);

	await mkdir(folder, { recursive: true });
	const cafile = join(folder, 'cert.pem');
	await writeFile(cafile, cert);
	return {
		env: { HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: cafile },
		npmrc: `registry=https://${host}/\nhttps-proxy=${proxy.url}\ncafile=${cafile}\n`,
		async publish(project) {
			const flags = ['--json', '--ignore-scripts', '--pack-destination', folder];
			const packed = await runCommand('npm', ['pack', ...flags], { cwd: project });
			const [{ filename, name, version, integrity, shasum }] = JSON.parse(packed) as [Packed];
			const manifest = await readFile(join(project, 'package.json'), 'utf8');
			const tarball = `https://${host}/${name}/-/${filename}`;
			registry.packages[name] = {
				name,
				'dist-tags': { latest: version },
				versions: {
					...registry.packages[name]?.versions,
					[version]: { ...JSON.parse(manifest), dist: { tarball, integrity, shasum } },
				},
			};
			return join(folder, filename);
		},
		async close() {
			await proxy.close();
			await registry.close();
		},
	};
}

/** What `npm pack` tells. */
type Packed = Record<'filename' | 'name' | 'version' | 'integrity' | 'shasum', string>;

/** What the registry tells of a package. */
interface Packument {
	name: string;
	'dist-tags': Record<string, string>;
	versions: Record<string, object>;
}

/**
 * What npm and n8n ask of a registry
 * (https://github.com/npm/registry/blob/main/docs/REGISTRY-API.md). Verdaccio, which has it all, can't be
 * installed from every registry: it depends on a version of node-fetch by a tag, and n8n's linter
 * forbids the override that would pin it.
 *
 * @param folder of the tarballs
 */
async function startServer(folder: string, https: { cert: string; key: string }) {
	const packages: Record<string, Packument> = {};
	const app = fastify({ https, forceCloseConnections: true });
	type Asked = { Params: { name: string; version: string; file: string } };
	app.get<Asked>('/:name', ({ params }, reply) => packages[params.name] ?? reply.callNotFound());
	app.get<Asked>('/:name/:version', ({ params: { name, version } }, reply) => {
		const { 'dist-tags': tags = {}, versions = {} } = packages[name] ?? {};
		return versions[tags[version] ?? version] ?? reply.callNotFound();
	});
	app.get<Asked>('/:name/-/:file', async ({ params }) => await readFile(join(folder, params.file)));
	await app.listen({ host: '127.0.0.1', port: 0 });
	const { port } = app.server.address() as AddressInfo;
	return { packages, port, close: async () => await app.close() };
}

/** Leads to the registry alone: what n8n asks of its makers is refused. */
async function startProxy(port: number) {
	const sockets = new Set<Socket>();
	const server = createServer((_, response) => response.writeHead(502).end());
	server.on('connection', (socket) => {
		sockets.add(socket);
		socket.on('close', () => sockets.delete(socket)).on('error', () => {});
	});
	server.on('connect', ({ url }, client: Socket, head: Buffer) => {
		if (url !== `${host}:443`) return void client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
		const registry = connect(port, '127.0.0.1', () => {
			client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
			registry.write(head);
			client.pipe(registry).pipe(client);
		});
		registry.on('error', () => client.destroy());
		client.on('close', () => registry.destroy());
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		async close() {
			for (const socket of sockets) socket.destroy();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
