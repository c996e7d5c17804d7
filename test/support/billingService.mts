import { createServer as createTcpServer, connect, type Socket } from 'node:net';

import { http, startRawServer } from './rawServer.mts';
import { testTls } from './tls.mts';

/** What the service does with one request. */
export interface Behaviour {
	/** Whether it carries the write out, whatever it then says. */
	bills: boolean;
	/** What it sends; undefined for nothing at all, with the connection left open. */
	answer?: string;
	/** How many bytes of the answer it sends before the connection ends; all by default. */
	cut?: number;
	/** Ends the connection so that the client gets an error where there is more to read. */
	resets?: boolean;
	/** Sends bytes that are no TLS, where the connection is a TLS one. */
	breaks?: boolean;
}

/** The service's own account of a run. */
export interface Account {
	/** Requests and bills by what is bought. */
	requests: number[];
	bills: number[];
	/** What is bought, by when the first request for it came. */
	order: number[];
	/** Whether two requests were being worked on at once. */
	overlapped: boolean;
	/** Called for each request. */
	onRequest?: () => void;
}

export type BillingService = Awaited<ReturnType<typeof startBillingService>>;

/** `stall`: TLS is never answered. */
export type ConnectionFault = 'none' | 'reset' | 'stall';

export const success = (data: object = {}): Behaviour => ({
	bills: true,
	answer: http(
		200,
		{},
		JSON.stringify({ status: 'success', data: { status: 'active', plan_id: 'pro', ...data } }),
	),
});

/** Tells what a request buys, in its path or in its body. */
export const idOf = (purchase: number) => `item-${purchase}`;
export const emailOf = (purchase: number) => `${idOf(purchase)}@example.com`;

/** A service whose every move a test decides, and which counts what it was asked and what it billed. */
export async function startBillingService() {
	let run = 0;
	let script: Behaviour[][] = [];
	let listScript: Behaviour[] = [];
	let faults: ConnectionFault[] = [];
	let account: Account = emptyAccount(0);
	/** The client's end of each connection to the TLS server, by the port that it comes from. */
	const clients = new Map<number, Socket>();
	let working = 0;

	const serve = (socket: Socket, { path, body }: { path: string; body: string }) => {
		if (!path.startsWith(`/${run}/`)) return;
		account.onRequest?.();
		if (path === `/${run}/v1/users`) return respond(socket, listScript.shift() ?? listOfUsers());
		const item = Number(/item-(\d+)/i.exec(path + body)![1]);
		const request = account.requests[item]!++;
		if (request === 0) account.order.push(item);
		const behaviour = script[item]![request] ?? success();
		if (behaviour.bills) account.bills[item]!++;
		respond(socket, behaviour);
	};
	const listOfUsers = (): Behaviour => {
		const users = script.map((_, item) => ({ id: idOf(item), email: emailOf(item) }));
		return {
			bills: false,
			answer: http(200, {}, JSON.stringify({ status: 'success', data: users })),
		};
	};
	const respond = (socket: Socket, { answer, cut, resets, breaks }: Behaviour) => {
		const client = clients.get(socket.remotePort!)!;
		if (breaks) return void client.end('neither TLS nor HTTP\r\n\r\n');
		if (answer === undefined) return;
		account.overlapped ||= working > 0;
		working++;
		// Long enough for another request to come in, if the client does not wait.
		setTimeout(() => {
			working--;
			const end = () => (resets ? reset(client) : socket.end());
			const sent = Buffer.from(answer).subarray(0, cut);
			if (sent.length === 0) end();
			else socket.write(sent, end);
		}, 5);
	};
	const plain = await startRawServer(serve);
	const secure = await startRawServer(serve, testTls);
	const front = (target: number) =>
		createTcpServer((client) => {
			client.on('error', () => {});
			const fault = faults.shift() ?? 'none';
			if (fault === 'reset') return reset(client);
			if (fault === 'stall') return undefined;
			const upstream = connect(target, '127.0.0.1', () => {
				clients.set(upstream.localPort!, client);
			});
			upstream.on('error', () => reset(client));
			upstream.on('close', () => clients.delete(upstream.localPort!));
			client.on('close', () => upstream.destroy());
			client.pipe(upstream).pipe(client);
			return undefined;
		});
	const fronts = [front(plain.port), front(secure.port)];
	const ports = await Promise.all(
		fronts.map(
			(server) =>
				new Promise<number>((resolve) => {
					server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
				}),
		),
	);
	return {
		/** Where the next run finds the service. */
		baseUrl: (tls: boolean) =>
			`${tls ? 'https' : 'http'}://127.0.0.1:${ports[tls ? 1 : 0]}/${run}/v1`,
		/**
		 * Begins a run.
		 * @param behaviours for each purchase, what becomes of its requests one after the other; from then on
		 * each is carried out
		 * @param connections what becomes of the connections before anything is sent on them
		 * @param lists what becomes of the requests for the list of users, which from then on succeed
		 */
		begin(behaviours: Behaviour[][], connections: ConnectionFault[], lists: Behaviour[]) {
			run++;
			working = 0;
			script = behaviours;
			listScript = [...lists];
			faults = [...connections];
			account = emptyAccount(behaviours.length);
			return account;
		},
		async close() {
			for (const server of fronts) server.close();
			await Promise.all([plain.close(), secure.close()]);
		},
	};
}

/**
 * One that is ending can't be reset any more: Node.js would never close it, and wait for that at its own
 * end, for ever (TCPWrap::Reset in node/src/tcp_wrap.cc).
 */
function reset(socket: Socket): void {
	if (socket.writableEnded) socket.destroy();
	else socket.resetAndDestroy();
}

function emptyAccount(items: number): Account {
	const zeros = () => Array<number>(items).fill(0);
	return { requests: zeros(), bills: zeros(), order: [], overlapped: false };
}
