import { once } from 'node:events';
import { createServer } from 'node:net';
import { systemCode, Trouble } from './trouble.mts';

/** Next port to try. The operating system gives ports from 32768 on to outgoing connections, at any time. */
let next = 20_000 + Math.floor(Math.random() * 10_000);

/** Returns a free port of the loopback address, which no outgoing connection takes before n8n opens it. */
export async function freePort(): Promise<number> {
	for (;;) {
		try {
			const port = next++;
			await checkPort(port);
			return port;
		} catch (error) {
			if (systemCode(error) !== 'EADDRINUSE') throw error;
		}
	}
}

/** Checks that a port of the loopback address can be opened. */
export async function checkPort(port: number): Promise<void> {
	const server = createServer().listen(port, '127.0.0.1');
	await once(server, 'listening');
	await new Promise((resolve) => server.close(resolve));
}

/**
 * Returns a readable error for a port that can't be opened; any other error as it is.
 *
 * @param command that chooses another port, up to the port's number
 */
export function portTrouble(error: unknown, port: number, command: string): unknown {
	const sentences: Record<string, string> = {
		EADDRINUSE: `is in use by another program: stop that program, or choose another port, for example \`${command} ${port + 1}\``,
		EACCES: `may not be opened by this user: choose one above 1023, for example \`${command} ${port + 10_000}\``,
	};
	const sentence = sentences[systemCode(error) ?? ''];
	return sentence === undefined ? error : new Trouble(`Port ${port} ${sentence}.`);
}
