/** A failure told to a person: what happened and what to do. It is printed without a stack trace. */
export class Trouble extends Error {
	override readonly name = 'Trouble';
}

/**
 * The error code of a failed system call, `ENOSPC` for example. Not by `instanceof`, which fails for
 * Node's own errors where jest runs a file: https://github.com/jestjs/jest/issues/2549
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

/** What to print for `error`: its sentence where there is one, otherwise everything known about it. */
export function describeError(error: unknown): string {
	if (error instanceof Trouble) return error.message;
	if (!(error instanceof Error)) return String(error);
	const sentence = systemSentences[systemCode(error) ?? ''];
	return sentence === undefined ? (error.stack ?? error.message) : `${sentence} (${error.message})`;
}
