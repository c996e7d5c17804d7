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
	/** Command of n8n: `start`, or a process of its queue mode. */
	command?: N8nCommand;
	/**
	 * `N8N_USER_FOLDER`: n8n's data are in its folder `.n8n`, and the files of workflows in `.n8n-files`.
	 */
	userFolder: string;
	/** Port of n8n (default: a free one). */
	port?: number;
	/** More environment variables. n8n does not get those of this process. */
	env?: Record<string, string>;
	/** Is called with each line of n8n's output. */
	onLine?: (line: string) => void;
	/** Cancels the start. */
	signal?: AbortSignal;
}

export type N8nCommand = keyof typeof readyPaths;

/** A running n8n. */
export interface N8n {
	/** Address of the server, without a slash at the end. With `start`, it serves the editor and the REST API. */
	url: string;
	/** Process ID of n8n. */
	pid: number;
	/** Returns the end of n8n's output, at least a million characters. */
	log(): string;
	/** Returns the last lines of n8n's output. */
	logTail(): string;
	/** Stops n8n and its child processes, and waits for their end. */
	stop(): Promise<void>;
	/** Kills n8n and its child processes, as the operating system does when memory is short. */
	kill(): Promise<void>;
	/** Settles when n8n has ended. */
	ended: Promise<void>;
}

/** With `start`, `/healthz` answers earlier than the REST API, so the API is asked. */
const readyPaths = {
	start: '/rest/settings',
	worker: '/healthz/readiness',
	webhook: '/healthz/readiness',
};

/** Environment of an n8n without the editor, which needs half the processor time to start. */
export const headless = { N8N_DISABLE_UI: 'true', N8N_PUBLIC_API_DISABLED: 'true' };

const readyMilliseconds = 180_000;
const pollMilliseconds = 200;
/** The only folder for files that n8n 2 allows by default, in the home folder. */
const filesFolder = '.n8n-files';
const logCharacters = 1_000_000;
const tailLines = 20;

/**
 * Starts n8n on the loopback address and waits until it is ready. The first start in a user folder takes longer, because it
 * creates the database. n8n ends with this process.
 *
 * @throws {Trouble} with the end of n8n's log if n8n ends early or does not get ready
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
			// n8n reads a file .env in its working directory.
			cwd: userFolder,
			env: {
				...inheritedEnvironment(),
				...(await n8nEnvironment(host, userFolder, port)),
				...env,
			},
			// In a new process group: Ctrl-C reaches only this process, and n8n's child processes end with n8n.
			detached: true,
			// The fourth one is the pipe of the orphan guard (orphanGuardDescriptor).
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
		// Without the editor, n8n has no address for its settings. The login's address answers 401.
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

/** Returns n8n's environment, without the settings of the user's own n8n. */
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
		// Node.js compiles n8n only at the first start.
		NODE_COMPILE_CACHE: join(folder, 'compiled'),
		N8N_USER_FOLDER: userFolder,
		N8N_RESTRICT_FILE_ACCESS_TO: join(userFolder, filesFolder),
		N8N_LISTEN_ADDRESS: '127.0.0.1',
		// The host in the webhook URLs that n8n shows. Its default is `localhost`.
		N8N_HOST: '127.0.0.1',
		N8N_PORT: String(port),
		// A worker's only server is its health check.
		QUEUE_HEALTH_CHECK_ACTIVE: 'true',
		QUEUE_HEALTH_CHECK_PORT: String(port),
		N8N_WORKER_SERVER_ADDRESS: '127.0.0.1',
		N8N_RUNNERS_BROKER_PORT: String(await freePort()),
		N8N_GRACEFUL_SHUTDOWN_TIMEOUT: String(shutdownMilliseconds / 1_000 - 5),
		// The editor is served over plain HTTP, on the loopback address only.
		N8N_SECURE_COOKIE: 'false',
		// n8n sends nothing to its makers, and requests nothing from them.
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
			// Not for each chunk, because it copies the whole text.
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
	// Child processes of n8n, such as its task runner.
	endGroup(child.pid, 'SIGKILL');
	await exit;
}
