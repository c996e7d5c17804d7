import execa from 'execa';
import { systemCode } from './trouble.mts';

export interface CommandOptions {
	cwd: string;
	/** Added to this process's environment. */
	env?: Record<string, string>;
	/** Ends the command and its child processes. */
	signal?: AbortSignal;
}

/**
 * Runs a command and returns its standard output.
 *
 * @throws {execa.ExecaError} if the command can't be started, fails, or is ended by `signal`. `all` has its whole output
 */
export async function runCommand(
	command: string,
	args: string[],
	{ cwd, env, signal }: CommandOptions,
): Promise<string> {
	signal?.throwIfAborted();
	const child = execa(command, args, {
		cwd,
		env,
		// npm's scripts use this process's Node.js, and no older one.
		preferLocal: true,
		stdin: 'ignore',
		all: true,
		// In a new process group, so that npm's compilers end with npm.
		detached: true,
	});
	// npm delays a SIGTERM until its installation has ended.
	const end = () => endGroup(child.pid, 'SIGKILL');
	signal?.addEventListener('abort', end);
	try {
		return (await child).stdout;
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
