import { homedir } from 'node:os';
import { join } from 'node:path';

export const packageName = 'n8n-nodes-resume-management';

/** The checkout that this file is part of. */
export const projectRoot = join(import.meta.dirname, '..');

/** Installed hosts. Everything in it can be deleted: it is installed again when needed. */
export function cacheFolder(): string {
	return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), packageName);
}

/** What a user makes in the editor and in the sandbox of `npm start`; it survives restarts. */
export function dataFolder(): string {
	return join(process.env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), packageName);
}
