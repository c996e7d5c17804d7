/** An error for people: what happened and what to do. It is printed without a stack trace. */
export class Trouble extends Error {
	override readonly name = 'Trouble';
}

/**
 * Returns the error code of a failed system call, such as `ENOSPC`. `instanceof` fails for errors of Node.js under jest:
 * https://github.com/jestjs/jest/issues/2549
 */
export function systemCode(error: unknown): string | undefined {
	if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
	return typeof error.code === 'string' ? error.code : undefined;
}

const systemSentences: Record<string, string> = {
	ENOSPC: 'The disk is full: free some space and run the command again.',
	EDQUOT: 'Your disk quota is used up: free some space and run the command again.',
	EROFS:
		'The disk is read-only: set XDG_CACHE_HOME and XDG_DATA_HOME to folders that can be written, and run the command again.',
	EACCES:
		'A folder may not be written: set XDG_CACHE_HOME and XDG_DATA_HOME to folders of your own, and run the command again.',
};

/** Returns the text to print for an error: its sentence if it has one, else its stack trace. */
export function describeError(error: unknown): string {
	if (error instanceof Trouble) return error.message;
	if (!(error instanceof Error)) return String(error);
	const sentence = systemSentences[systemCode(error) ?? ''];
	return sentence === undefined ? (error.stack ?? error.message) : `${sentence} (${error.message})`;
}
