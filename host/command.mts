import { spawn } from 'node:child_process';
import { delimiter, dirname } from 'node:path';
import { systemCode } from './trouble.mts';

export interface CommandOptions {
	cwd: string;
	/** Added to this process's environment. */
	env?: Record<string, string>;
	/** Ends the command and everything it started. */
	signal?: AbortSignal;
}

/** A command that could not be started or ended with another code than 0. */
export class CommandError extends Error {
	override readonly name = 'CommandError';
	/** Everything that the command wrote, standard output and standard error mixed. */
	readonly output: string;

	constructor(command: string, reason: string, output: string) {
		super(`${command} ${reason}`);
		this.output = output;
	}
}

/** `PATH` with the Node.js that runs this first: what npm starts must not fall back to an older one. */
const pathWithThisNode = [dirname(process.execPath), process.env.PATH].join(delimiter);

/**
 * Runs a command to its end and answers what it wrote to standard output.
 *
 * @throws {CommandError} where it can't be started, fails, or is ended by `signal`
 */
export async function runCommand(
	command: string,
	args: string[],
	{ cwd, env, signal }: CommandOptions,
): Promise<string> {
	const { promise, resolve, reject } = Promise.withResolvers<string>();
	const name = [command, ...args].join(' ');
	let written = '';
	let output = '';

	signal?.throwIfAborted();
	const child = spawn(command, args, {
		cwd,
		env: { ...process.env, PATH: pathWithThisNode, ...env },
		stdio: ['ignore', 'pipe', 'pipe'],
		// A process group of its own, so that npm's compilers end with it.
		detached: true,
	});
	child.stdout.setEncoding('utf8').on('data', (text: string) => {
		written += text;
		output += text;
	});
	child.stderr.setEncoding('utf8').on('data', (text: string) => {
		output += text;
	});
	// npm puts off a SIGTERM until its installation is through.
	const end = () => endGroup(child.pid, 'SIGKILL');
	signal?.addEventListener('abort', end);
	child.once('error', (error) => reject(new CommandError(name, `can't be started`, error.message)));
	child.once('close', (code, killedBy) => {
		if (code === 0) resolve(written);
		else reject(new CommandError(name, `ended with ${code ?? killedBy}`, output));
	});

	return await promise.finally(() => signal?.removeEventListener('abort', end));
}

/** Sends a signal to a process group; one that has ended already is no error. */
export function endGroup(pid: number | undefined, signal: NodeJS.Signals): void {
	if (pid === undefined) return;
	try {
		process.kill(-pid, signal);
	} catch (error) {
		if (systemCode(error) !== 'ESRCH') throw error;
	}
}
