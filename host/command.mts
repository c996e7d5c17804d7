import { delimiter, dirname } from 'node:path';
import execa from 'execa';
import { systemCode } from './trouble.mts';

export interface CommandOptions {
	cwd: string;
	/** Added to this process's environment. */
	env?: Record<string, string>;
	/** Ends the command and its child processes. */
	signal?: AbortSignal;
}

/** A command could not be started, or ended with another code than 0. */
export class CommandError extends Error {
	override readonly name = 'CommandError';
	/** Output of the command: standard output and standard error. */
	readonly output: string;

	constructor({ shortMessage, all = '' }: execa.ExecaError) {
		super(shortMessage);
		this.output = all;
	}
}

/** `PATH` that begins with this process's Node.js, so that npm's scripts use no older one. */
const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter);

/**
 * Runs a command and returns its standard output.
 *
 * @throws {CommandError} if the command can't be started, fails, or is ended by `signal`
 */
export async function runCommand(
	command: string,
	args: string[],
	{ cwd, env, signal }: CommandOptions,
): Promise<string> {
	signal?.throwIfAborted();
	// In a new process group, so that npm's compilers end with npm.
	const options = {
		cwd,
		env: { PATH, ...env },
		stdin: 'ignore',
		all: true,
		detached: true,
	} as const;
	const child = execa(command, args, options);
	// npm delays a SIGTERM until its installation has ended.
	const end = () => endGroup(child.pid, 'SIGKILL');
	signal?.addEventListener('abort', end);
	try {
		return (await child).stdout;
	} catch (error) {
		throw new CommandError(error as execa.ExecaError);
	} finally {
		signal?.removeEventListener('abort', end);
	}
}

/** Sends a signal to a process group, which may have ended. */
export function endGroup(pid: number | undefined, signal: NodeJS.Signals): void {
	try {
		if (pid !== undefined) process.kill(-pid, signal);
	} catch (error) {
		if (systemCode(error) !== 'ESRCH') throw error;
	}
}
