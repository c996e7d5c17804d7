import { createServer } from 'node:net';
import { systemCode, Trouble } from './trouble.mts';

const host = '127.0.0.1';

/** A port of the loopback address that no program listens on. */
export async function freePort(): Promise<number> {
	return await bindOnce(0);
}

/**
 * @param option the command-line option that chooses another port
 * @throws {Trouble} where a program listens on `port` already
 */
export async function requireFreePort(port: number, option: string): Promise<void> {
	try {
		await bindOnce(port);
	} catch (error) {
		throw portTrouble(error, port, `npm start -- ${option}`);
	}
}

/**
 * What to tell a person about a port that can't be opened; any other error as it is.
 *
 * @param command up to the number of a port, which it chooses
 */
export function portTrouble(error: unknown, port: number, command: string): unknown {
	if (systemCode(error) === 'EADDRINUSE') {
		return new Trouble(
			`Port ${port} is in use by another program: stop that program, or choose another port, for example \`${command} ${port + 1}\`.`,
		);
	}
	if (systemCode(error) === 'EACCES') {
		return new Trouble(
			`Port ${port} may not be opened by this user: choose one above 1023, for example \`${command} ${port + 10_000}\`.`,
		);
	}
	return error;
}

async function bindOnce(port: number): Promise<number> {
	const { promise, resolve, reject } = Promise.withResolvers<number>();
	const server = createServer();
	server.once('error', reject);
	server.listen(port, host, () => {
		const address = server.address();
		const bound = typeof address === 'object' && address !== null ? address.port : port;
		server.close(() => resolve(bound));
	});
	return await promise;
}
