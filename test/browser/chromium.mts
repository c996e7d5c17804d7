import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome'];

/**
 * Starts this machine's own Chromium or Chrome, headless: the one of `CHROMIUM_PATH`, or else the
 * first that is found.
 */
export async function launchChromium(): Promise<Browser> {
	return await chromium.launch({
		executablePath: findChromium(),
		args: [
			// Chromium's sandbox does not start as root, and nothing but loopback addresses can be reached.
			'--no-sandbox',
			'--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
			'--disable-gpu',
			'--disable-quic',
			'--no-first-run',
			'--disable-background-networking',
			'--disable-component-update',
			'--disable-sync',
		],
	});
}

function findChromium(): string {
	const wanted = process.env.CHROMIUM_PATH;
	const folders = ['/usr/bin', ...(process.env.PATH ?? '').split(delimiter)];
	const candidates = wanted
		? [wanted]
		: names.flatMap((name) => folders.map((folder) => join(folder, name)));
	const found = candidates.find(isExecutable);
	if (found !== undefined) return found;
	throw new Error(
		wanted
			? `CHROMIUM_PATH is ${wanted}, which can't be run: set it to the path of Chromium or Chrome.`
			: 'The browser tests need Chromium: install it (Debian and Ubuntu: `sudo apt-get install chromium`), or set CHROMIUM_PATH to the path of Chromium or Chrome, and run them again.',
	);
}

function isExecutable(path: string): boolean {
	try {
		accessSync(path, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}
