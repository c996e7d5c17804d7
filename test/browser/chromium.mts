import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

/** Where Debian, Ubuntu and Chrome's own packages put it. */
const places = ['chromium', 'chromium-browser', 'google-chrome'].map((name) => `/usr/bin/${name}`);

/**
 * Starts this machine's own Chromium or Chrome, headless: the one of `CHROMIUM_PATH`, or else the
 * first that is found.
 */
export async function launchChromium(): Promise<Browser> {
	const executablePath = process.env.CHROMIUM_PATH ?? places.find(existsSync);
	if (executablePath === undefined) {
		throw new Error(
			'The browser tests need Chromium: install it (Debian and Ubuntu: `sudo apt-get install chromium`), or set CHROMIUM_PATH to the path of Chromium or Chrome, and run them again.',
		);
	}
	return await chromium.launch({
		executablePath,
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
