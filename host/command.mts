import { delimiter, dirname } from 'node:path';
import execa from 'execa';
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

	constructor({ shortMessage, all = '' }: execa.ExecaError) {
		super(shortMessage);
		this.output = all;
	}
}

/** `PATH` with the Node.js that runs this first: what npm starts must not fall back to an older one. */
const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter);

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
	signal?.throwIfAborted();
	// A process group of its own, so that npm's compilers end with it.
	const options = {
		cwd,
		env: { PATH, ...env },
		stdin: 'ignore',
		all: true,
		detached: true,
	} as const;
	const child = execa(command, args, options);
	// npm puts off a SIGTERM until its installation is through.
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

/** Sends a signal to a process group; one that has ended already is no error. */
export function endGroup(pid: number | undefined, signal: NodeJS.Signals): void {
	try {
		if (pid !== undefined) process.kill(-pid, signal);
	} catch (error) {
		if (systemCode(error) !== 'ESRCH') throw error;
	}
}
