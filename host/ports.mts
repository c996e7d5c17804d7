import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { systemCode, Trouble } from './trouble.mts';

/** Returns a free port of the loopback address: `port`, or any free one if it is 0. */
export async function freePort(port = 0): Promise<number> {
	const server = createServer().listen(port, '127.0.0.1');
	await once(server, 'listening');
	const bound = (server.address() as AddressInfo).port;
	await new Promise((resolve) => server.close(resolve));
	return bound;
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
