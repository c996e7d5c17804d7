import type { ExecaError } from 'execa';

/** An error for people: what happened and what to do. It is printed without a stack trace. */
export class Trouble extends Error {
	override readonly name = 'Trouble';
}

/** Returns an error for people for a command that failed: a sentence for the command's output, and the end of the output. */
export function commandTrouble(error: unknown, sentence: (output: string) => string): unknown {
	const { all } = error as Partial<ExecaError>;
	if (all === undefined) return error;
	return new Trouble(`${sentence(all)}\n${all.trim().split('\n').slice(-30).join('\n')}`);
}

/**
 * Returns the error code of a failed system call, such as `ENOSPC`. `instanceof` fails for errors of Node.js under jest:
 * https://github.com/jestjs/jest/issues/2549
 */
export function systemCode(error: unknown): string | undefined {
	if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
	return typeof error.code === 'string' ? error.code : undefined;
}

const diskFull = 'The disk or your quota is full: free some space and run the command again.';
const notWritable =
	'A folder may not be written: set XDG_CACHE_HOME and XDG_DATA_HOME to folders of your own, and run the command again.';

const systemSentences: Record<string, string> = {
	ENOSPC: diskFull,
	EDQUOT: diskFull,
	EROFS: notWritable,
	EACCES: notWritable,
};

/** Returns the text to print for an error: its sentence if it has one, else its stack trace. */
export function describeError(error: unknown): string {
	if (error instanceof Trouble) return error.message;
	if (!(error instanceof Error)) return String(error);
	const sentence = systemSentences[systemCode(error) ?? ''];
	return sentence === undefined ? (error.stack ?? error.message) : `${sentence} (${error.message})`;
}
