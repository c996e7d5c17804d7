import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { endGroup } from './command.mts';
import type { Host } from './install.mts';
import { freePort } from './ports.mts';
import { Trouble } from './trouble.mts';

export interface N8nOptions {
	host: Host;
	/** Command of n8n: `start`, or a process of its queue mode. */
	command?: N8nCommand;
	/** `N8N_USER_FOLDER`: n8n's data are in its folder `.n8n`, and the files of workflows in `.n8n-files`. */
	userFolder: string;
	/** Port of n8n (default: a free one). */
	port?: number;
	/** More environment variables. n8n does not get those of this process. `N8N_LOG_LEVEL` is `info` (n8n's default) or `debug`. */
	env?: Record<string, string>;
	/** Is called with each line of n8n's output. */
	onLine?: (line: string) => unknown;
	/** Cancels the start. */
	signal?: AbortSignal;
}

export type N8nCommand = keyof typeof whenReady;

/** A running n8n. */
export type N8n = Awaited<ReturnType<typeof startN8n>>;

/**
 * What n8n logs at the end of its start. Its REST API responds a moment earlier, but an execution that begins in that moment
 * can be taken for one of a killed process and be marked as crashed, while it runs on (configure in n8n/src/server.ts).
 */
const whenReady = {
	start: 'Editor is now accessible',
	worker: 'n8n worker is now ready',
	webhook: 'Webhook listener waiting for requests',
};

/** Environment of an n8n without the editor, which needs half the processor time to start. */
export const headless = { N8N_DISABLE_UI: 'true', N8N_PUBLIC_API_DISABLED: 'true' };

/** A busy machine may take minutes. An n8n that has ended is noticed at once. */
const readySeconds = 600;

/** Time that n8n may take to finish running executions and close its database. */
const shutdownSeconds = 10;

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
}: N8nOptions) {
	signal?.throwIfAborted();
	const port = String(wantedPort ?? (await freePort()));
	/** The only folder for files that n8n 2 allows by default, in the home folder. */
	const filesFolder = join(userFolder, '.n8n-files');
	await mkdir(filesFolder, { recursive: true });
	const guard = pathToFileURL(join(import.meta.dirname, 'orphan-guard.mts')).href;
	const child = spawn(host.node, ['--import', guard, host.cli, command], {
		// n8n reads a file .env in its working directory.
		cwd: userFolder,
		env: {
			...inheritedEnvironment(),
			PATH: [dirname(host.node), process.env.PATH].join(delimiter),
			NODE_ENV: 'production',
			// Node.js compiles n8n only at the first start.
			NODE_COMPILE_CACHE: join(host.folder, 'compiled'),
			N8N_USER_FOLDER: userFolder,
			N8N_RESTRICT_FILE_ACCESS_TO: filesFolder,
			N8N_LISTEN_ADDRESS: '127.0.0.1',
			// The host in the webhook URLs that n8n shows. Its default is `localhost`.
			N8N_HOST: '127.0.0.1',
			N8N_PORT: port,
			N8N_RUNNERS_BROKER_PORT: String(await freePort()),
			N8N_GRACEFUL_SHUTDOWN_TIMEOUT: String(shutdownSeconds),
			// The editor is served over plain HTTP, on the loopback address only.
			N8N_SECURE_COOKIE: 'false',
			// n8n sends nothing to its makers, and requests nothing from them.
			N8N_DIAGNOSTICS_ENABLED: 'false',
			N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
			N8N_TEMPLATES_ENABLED: 'false',
			N8N_PERSONALIZATION_ENABLED: 'false',
			...env,
		},
		// In a new process group: Ctrl-C reaches only this process, and n8n's child processes end with n8n.
		detached: true,
		// The fourth one is the pipe of orphan-guard.mts.
		stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
	});
	let log = '';
	for (const stream of [child.stdout, child.stderr]) {
		stream!.setEncoding('utf8').on('data', (piece: string) => (log += piece));
		if (onLine) createInterface(stream!).on('line', onLine);
	}
	/** Settles when n8n has ended. */
	const ended = once(child, 'exit');
	/** Kills n8n and its child processes, as the operating system does when memory is short. */
	const kill = async () => {
		endGroup(child.pid, 'SIGKILL');
		await ended;
	};
	/** Stops n8n and its child processes, and waits for their end. */
	const stop = async () => {
		child.kill('SIGTERM');
		await Promise.race([ended, sleep((shutdownSeconds + 5) * 1_000, undefined, { ref: false })]);
		await kill();
	};
	/** Returns the last lines of n8n's output. */
	const logTail = () => log.trim().split('\n').slice(-20).join('\n');
	const trouble = (what: string) => new Trouble(`n8n ${what}. The end of its log:\n${logTail()}`);
	/** Address of the server, without a slash at the end. With `start`, it serves the editor and the REST API. */
	const url = `http://127.0.0.1:${port}`;

	const deadline = Date.now() + readySeconds * 1_000;
	try {
		while (!log.includes(whenReady[command])) {
			signal?.throwIfAborted();
			if (child.exitCode !== null || child.signalCode !== null) {
				throw trouble('ended while it started');
			}
			if (Date.now() > deadline) throw trouble(`did not get ready in ${readySeconds} s`);
			await sleep(100);
		}
	} catch (error) {
		await stop();
		throw error;
	}
	return { url, pid: child.pid!, log: () => log, logTail, stop, kill, ended };
}

/** Returns this process's environment without the settings of the user's own n8n. */
function inheritedEnvironment(): NodeJS.ProcessEnv {
	const foreign = /^(?:N8N|DB|EXECUTIONS|QUEUE|WEBHOOK|CREDENTIALS|JEST|npm)_|^NODE_ENV$/;
	return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
}
