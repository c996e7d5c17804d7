import { homedir } from 'node:os';
import { join } from 'node:path';

export const packageName = 'n8n-nodes-resume-management';

/** Root of this checkout. */
export const projectRoot = join(import.meta.dirname, '..');

/** Returns the folder of installed hosts. It can be deleted: hosts are installed again when needed. */
export function cacheFolder(): string {
	return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), packageName);
}

/** Returns the folder with the data of the n8n and the sandbox of `npm start`. */
export function dataFolder(): string {
	return join(process.env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), packageName);
}
