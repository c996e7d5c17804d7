import { mkdir, statfs } from 'node:fs/promises';
import { Trouble } from './trouble.mts';

/**
 * Creates a folder and makes sure that its disk has room.
 *
 * @param gigabytes what must be free, in units of 10⁹ bytes
 * @param variable the environment variable that moves the folder elsewhere
 * @throws {Trouble} where there is less
 */
export async function requireSpace(
	folder: string,
	gigabytes: number,
	variable: string,
): Promise<void> {
	await mkdir(folder, { recursive: true });
	const { bavail, bsize } = await statfs(folder);
	const free = (bavail * bsize) / 1e9;
	if (free >= gigabytes) return;
	throw new Trouble(
		`${folder} needs ${gigabytes} GB and its disk has ${free.toFixed(1)} GB left: ` +
			`free some space, or set ${variable} to a folder on a larger disk, and run the command again.`,
	);
}
