import type { ExecaError } from 'execa';

/** An error for people: what happened and what to do. It is printed without a stack trace. */
export class Trouble extends Error {
	override readonly name = 'Trouble';
}

/** Of npm, of system calls, and of SQLite. */
const fullMessage = /ENOSPC|EDQUOT|no space left|disk is full/i;

const diskFull =
	'The disk is full: free some space, or set XDG_CACHE_HOME, XDG_DATA_HOME and npm_config_cache to folders on a larger disk, and run the command again.';

const badFolder =
	'A folder may not be written, or its path leads through a file: set XDG_CACHE_HOME and XDG_DATA_HOME to folders of your own, and run the command again.';

/** Returns an error for people for a command that failed: a sentence for the command's output, and the end of the output. */
export function commandTrouble(error: unknown, sentence: (output: string) => string): unknown {
	const { all } = error as Partial<ExecaError>;
	if (all === undefined) return error;
	if (fullMessage.test(all)) return new Trouble(diskFull);
	return new Trouble(`${sentence(all)}\n${all.trim().split('\n').slice(-30).join('\n')}`);
}

/**
 * Returns the error code of a failed system call, such as `ENOSPC`. `instanceof` fails for errors of Node.js under jest:
 * https://github.com/jestjs/jest/issues/2549
 */
export function systemCode(error: unknown): string | undefined {
	const { code } = Object(error) as { code?: unknown };
	return typeof code === 'string' ? code : undefined;
}

const systemSentences: Record<string, string> = {
	EACCES: badFolder,
	EEXIST: badFolder,
	ENOTDIR: badFolder,
	EROFS: badFolder,
};

/** Returns the text to print for an error: its sentence if it has one, else its stack trace. */
export function describeError(error: unknown): string {
	if (error instanceof Trouble) return error.message;
	const { message, stack } = error as Error;
	const sentence = fullMessage.test(message) ? diskFull : systemSentences[systemCode(error) ?? ''];
	return sentence === undefined ? (stack ?? message) : `${sentence} (${message})`;
}
