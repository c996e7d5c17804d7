import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import axios from 'axios';
import { endGroup } from './command.mts';
import type { Host } from './install.mts';
import { freePort } from './ports.mts';
import { shutdownMilliseconds } from './shutdown.mts';
import { Trouble } from './trouble.mts';

export interface N8nOptions {
	host: Host;
	/** n8n's command: the editor and everything else (`start`), or a process of its queue mode. */
	command?: N8nCommand;
	/**
	 * n8n's `N8N_USER_FOLDER`: its data are in `.n8n` in it, and what its workflows read from and
	 * write to the disk is in `.n8n-files`.
	 */
	userFolder: string;
	/** A free one is taken without it. */
	port?: number;
	/** More of n8n's environment variables; the ones of this process do not reach n8n. */
	env?: Record<string, string>;
	/** Takes each line that n8n writes. */
	onLine?: (line: string) => void;
	/** Ends a start that is under way. */
	signal?: AbortSignal;
}

export type N8nCommand = keyof typeof readyPaths;

/** A running n8n. */
export interface N8n {
	/** Address of its server without a slash at the end: of the editor and the REST API, for `start`. */
	url: string;
	/** The process of n8n itself. */
	pid: number;
	/** The last of what n8n has written, at least a million characters. */
	log(): string;
	/** Its last lines. */
	logTail(): string;
	/** Ends n8n and everything it started; settles when they are gone. */
	stop(): Promise<void>;
	/** Ends it as the operating system does when memory is short, and everything it started. */
	kill(): Promise<void>;
	/** Settles when n8n has ended, for whatever reason. */
	ended: Promise<void>;
}

/** `/healthz` of `start` answers before the REST API does, so the API itself is asked. */
const readyPaths = {
	start: '/rest/settings',
	worker: '/healthz/readiness',
	webhook: '/healthz/readiness',
};

/** The environment of an n8n without its editor, whose start takes half the processor time. */
export const headless = { N8N_DISABLE_UI: 'true', N8N_PUBLIC_API_DISABLED: 'true' };

const readyMilliseconds = 180_000;
const pollMilliseconds = 200;
/** As n8n 2 names it in the home folder, where it allows nothing else. */
const filesFolder = '.n8n-files';
const logCharacters = 1_000_000;
const tailLines = 20;

/**
 * Starts n8n on the loopback address and waits until it is ready for work: some seconds, longer at
 * a first start in a user folder, which creates the database. n8n ends with this process.
 *
 * @throws {Trouble} with the end of n8n's log where it ends early or does not get ready
 */
export async function startN8n({
	host,
	command = 'start',
	userFolder,
	port: wantedPort,
	env,
	onLine,
	signal,
}: N8nOptions): Promise<N8n> {
	signal?.throwIfAborted();
	const port = wantedPort ?? (await freePort());
	await mkdir(join(userFolder, filesFolder), { recursive: true });
	const child = spawn(
		host.node,
		[
			'--import',
			pathToFileURL(join(import.meta.dirname, 'orphan-guard.mts')).href,
			host.cli,
			command,
		],
		{
			// n8n reads a file .env of its working directory.
			cwd: userFolder,
			env: {
				...inheritedEnvironment(),
				...(await n8nEnvironment(host, userFolder, port)),
				...env,
			},
			// A process group of its own: Ctrl-C reaches this process alone, and what n8n starts ends with it.
			detached: true,
			// The fourth is the pipe of the orphan guard, orphanGuardDescriptor.
			stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
		},
	);
	const log = collectLog(child, onLine);
	const n8n: N8n = {
		url: `http://127.0.0.1:${port}`,
		pid: child.pid!,
		log,
		logTail: () => log().trim().split('\n').slice(-tailLines).join('\n'),
		stop: async () => await stop(child),
		kill: async () => {
			child.kill('SIGKILL');
			await stop(child);
		},
		ended: new Promise((resolve) => child.once('exit', () => resolve())),
	};

	try {
		// Its editor's settings go with the editor; whoever is not signed in gets 401 from the API.
		const hasEditor = env?.N8N_DISABLE_UI !== 'true' || command !== 'start';
		await (hasEditor
			? ready(n8n, readyPaths[command], 200, signal)
			: ready(n8n, '/rest/login', 401, signal));
	} catch (error) {
		await n8n.stop();
		throw error;
	}
	return n8n;
}

/** Settings of the user's own n8n must not reach this one, whose data are apart. */
function inheritedEnvironment(): Record<string, string | undefined> {
	const foreign = /^(?:N8N|DB|EXECUTIONS|QUEUE|WEBHOOK|CREDENTIALS|JEST|npm)_|^NODE_ENV$/;
	return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
}

async function n8nEnvironment(
	{ folder, node }: Host,
	userFolder: string,
	port: number,
): Promise<Record<string, string>> {
	return {
		PATH: [dirname(node), process.env.PATH].join(delimiter),
		NODE_ENV: 'production',
		// What Node.js has compiled of n8n at one start, it need not compile at the next.
		NODE_COMPILE_CACHE: join(folder, 'compiled'),
		N8N_USER_FOLDER: userFolder,
		N8N_RESTRICT_FILE_ACCESS_TO: join(userFolder, filesFolder),
		N8N_LISTEN_ADDRESS: '127.0.0.1',
		// In the webhook URLs that it shows, which `localhost` would spell in another way.
		N8N_HOST: '127.0.0.1',
		N8N_PORT: String(port),
		// A worker has no server but this one, of its health.
		QUEUE_HEALTH_CHECK_ACTIVE: 'true',
		QUEUE_HEALTH_CHECK_PORT: String(port),
		N8N_WORKER_SERVER_ADDRESS: '127.0.0.1',
		N8N_RUNNERS_BROKER_PORT: String(await freePort()),
		N8N_GRACEFUL_SHUTDOWN_TIMEOUT: String(shutdownMilliseconds / 1_000 - 5),
		// The editor is served over plain HTTP, on the loopback address alone.
		N8N_SECURE_COOKIE: 'false',
		// Nothing is sent to n8n's makers, and nothing asked of them.
		N8N_DIAGNOSTICS_ENABLED: 'false',
		N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
		N8N_TEMPLATES_ENABLED: 'false',
		N8N_PERSONALIZATION_ENABLED: 'false',
	};
}

function collectLog(child: ChildProcess, onLine: N8nOptions['onLine']): () => string {
	let text = '';
	for (const stream of [child.stdout, child.stderr]) {
		stream?.setEncoding('utf8').on('data', (piece: string) => {
			text += piece;
			// Not at each piece, since it copies all of it.
			if (text.length > 2 * logCharacters) text = text.slice(-logCharacters);
		});
		if (stream && onLine) createInterface(stream).on('line', onLine);
	}
	return () => text;
}

async function ready(n8n: N8n, path: string, status: number, signal?: AbortSignal): Promise<void> {
	const deadline = Date.now() + readyMilliseconds;
	let ended = false;
	void n8n.ended.then(() => (ended = true));
	while (Date.now() < deadline) {
		signal?.throwIfAborted();
		if (ended)
			throw new Trouble(`n8n ended while it started. The end of its log:\n${n8n.logTail()}`);
		const answer = await axios
			.get(n8n.url + path, { timeout: 5_000, proxy: false, validateStatus: null })
			.catch(() => undefined);
		if (answer?.status === status && typeof answer.data === 'object') return;
		await sleep(pollMilliseconds);
	}
	throw new Trouble(
		`n8n did not get ready in ${readyMilliseconds / 1_000} s: run the command again when the machine is less busy. The end of its log:\n${n8n.logTail()}`,
	);
}

async function stop(child: ChildProcess): Promise<void> {
	const exit = (child.exitCode ?? child.signalCode) ? undefined : once(child, 'exit');
	child.kill('SIGTERM');
	await Promise.race([exit, sleep(shutdownMilliseconds, undefined, { ref: false })]);
	// What it had started, such as its task runner.
	endGroup(child.pid, 'SIGKILL');
	await exit;
}
