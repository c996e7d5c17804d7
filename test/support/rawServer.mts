import {
	createServer as createTcpServer,
	type AddressInfo,
	type Server,
	type Socket,
} from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

export interface RawRequest {
	/** Counted from 0, over all connections. */
	index: number;
	method: string;
	path: string;
	headers: Record<string, string>;
	body: string;
}

export type RawServer = Awaited<ReturnType<typeof startRawServer>>;

/** Answers bytes of a test's choosing, valid HTTP or not: what no HTTP server would let it send. */
export async function startRawServer(
	answer: (socket: Socket, request: RawRequest) => void | Promise<void>,
	tls?: TlsOptions,
) {
	const requests: RawRequest[] = [];
	const sockets = new Set<Socket>();
	const serve = (socket: Socket) => {
		sockets.add(socket);
		socket.on('close', () => sockets.delete(socket)).on('error', () => {});
		let received = '';
		socket.on('data', (chunk) => {
			received += chunk.toString('latin1');
			// A TLS client at a plain port, told off as a web server would.
			if (received.startsWith('\x16')) return socket.end(http(400, {}));
			const [head, body] = received.split('\r\n\r\n');
			if (body === undefined) return undefined;
			const [line, ...lines] = head!.split('\r\n');
			const headers = Object.fromEntries(
				lines.map((header) => [
					header.split(':')[0]!.toLowerCase(),
					header.slice(header.indexOf(':') + 1).trim(),
				]),
			);
			if (body.length < Number(headers['content-length'] ?? 0)) return undefined;
			received = '';
			const [method, path] = line!.split(' ');
			const request = { index: requests.length, method: method!, path: path!, headers, body };
			requests.push(request);
			void answer(socket, request);
			return undefined;
		});
	};
	const server: Server = tls ? createTlsServer(tls, serve) : createTcpServer(serve);
	server.on('tlsClientError', () => {});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return {
		port: (server.address() as AddressInfo).port,
		requests,
		async close() {
			for (const socket of sockets) socket.destroy();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}

/** A whole HTTP answer; its length is counted unless the headers say otherwise. */
export function http(status: number, headers: Record<string, string>, body = ''): string {
	const all = {
		'Content-Length': String(Buffer.byteLength(body)),
		Connection: 'close',
		...headers,
	};
	const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
	return `HTTP/1.1 ${status} Status\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
}

/** A whole answer in JSON. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): string {
	return http(status, { 'Content-Type': 'application/json', ...headers }, JSON.stringify(body));
}
