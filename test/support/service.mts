import type { Socket } from 'node:net';
import type { INodeParameters } from 'n8n-workflow';
import { SANDBOX_KEYS } from '../../sandbox/seed.mts';
import { startSandbox, type Sandbox } from '../../sandbox/server.mts';
import { type EngineRun, runNode } from './engine.mts';
import { json, type RawRequest, startRawServer } from './rawServer.mts';

/** Services for a file of tests: they start before its tests and end after them. */
function withRuns(credential: () => { baseUrl: string; privateKey: string }) {
	return {
		credential,
		run: async (parameters: INodeParameters, rest?: Partial<EngineRun>) =>
			await runNode({ parameters, credential: credential(), ...rest }),
	};
}

/**
 * Starts a service whose responses the test chooses.
 * @param respond returns a whole HTTP response as a string, another value to send as JSON, or undefined if
 * it has used the socket itself
 */
export function useRawService(
	respond: (request: RawRequest, socket: Socket) => unknown,
	privateKey = 'the-key',
) {
	const requests: RawRequest[] = [];
	let port: number;
	let close: () => Promise<void>;
	beforeAll(async () => {
		({ port, close } = await startRawServer((socket, received) => {
			const request = { ...received, index: requests.length };
			requests.push(request);
			const given = respond(request, socket);
			if (given !== undefined) socket.end(typeof given === 'string' ? given : json(given));
		}));
	});
	beforeEach(() => void (requests.length = 0));
	afterAll(async () => await close());
	return {
		...withRuns(() => ({ baseUrl: `http://127.0.0.1:${port}/v1`, privateKey })),
		/** Since the test began; `index` counts them. */
		requests,
		/** The same, such as `GET /v1/users`. */
		sent: () => requests.map(({ method, path }) => `${method} ${path}`),
	};
}

/** The sandbox. Its faults are those of the test; its data stay. */
export function useSandbox() {
	let sandbox: Sandbox;
	beforeAll(async () => {
		sandbox = await startSandbox({ port: 0, record: true });
	});
	beforeEach(() => {
		sandbox.requests.length = 0;
		sandbox.faults.clear();
	});
	afterAll(async () => await sandbox.close());
	return {
		...withRuns(() => ({ baseUrl: sandbox.baseUrl, privateKey: SANDBOX_KEYS.live })),
		sandbox: () => sandbox,
		sent: () => sandbox.requests.map(({ method, url }) => `${method} ${url}`),
	};
}
