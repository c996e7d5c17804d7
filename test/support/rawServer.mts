import { createServer, type AddressInfo, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { testTls } from './tls.mts';

export interface RawRequest {
	/** Counted from 0, over all connections. */
	index: number;
	method: string;
	path: string;
	headers: Record<string, string>;
	body: string;
}

/**
 * Starts a server that sends any bytes, valid HTTP or not.
 * @param respond writes to the socket; `raw` is the connection below TLS, or the same socket
 * @param options `tls` serves over TLS, with a certificate that nobody trusts. `accept` is called for each connection
 * before TLS begins: if it returns false, the connection is not served.
 */
export async function startRawServer(
	respond: (socket: Socket, request: RawRequest, raw: Socket) => void | Promise<void>,
	{ tls = false, accept = () => true }: { tls?: boolean; accept?: (raw: Socket) => boolean } = {},
) {
	const requests: RawRequest[] = [];
	const sockets = new Set<Socket>();
	const serve = (socket: Socket, raw: Socket) => {
		let received = '';
		socket.on('error', () => raw.destroy());
		socket.on('data', (chunk) => {
			received += chunk.toString('latin1');
			// A TLS client at a plain port gets the 400 of a web server.
			if (received.startsWith('\x16')) return void socket.end(http(400, {}));
			const [head, body] = received.split('\r\n\r\n');
			if (body === undefined) return;
			const [line, ...lines] = head!.split('\r\n');
			const entries = lines.map((one) => /^(.*?):(.*)$/.exec(one)!.slice(1) as [string, string]);
			const headers = Object.fromEntries(new Headers(entries));
			if (body.length < Number(headers['content-length'] ?? 0)) return;
			received = '';
			const [method, path] = line!.split(' ');
			const request = { index: requests.length, method: method!, path: path!, headers, body };
			requests.push(request);
			void respond(socket, request, raw);
		});
	};
	const server = createServer((raw) => {
		sockets.add(raw);
		raw.on('close', () => sockets.delete(raw)).on('error', () => {});
		if (!accept(raw)) return;
		serve(tls ? new TLSSocket(raw, { isServer: true, ...testTls }) : raw, raw);
	});
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

/** Returns a whole HTTP response. Its length is counted unless the headers have one. */
export function http(status: number, headers: Record<string, string>, body = ''): string {
	const length = String(Buffer.byteLength(body));
	const all = { 'Content-Length': length, Connection: 'close', ...headers };
	const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
	return `HTTP/1.1 ${status} Status\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
}

export function json(body: unknown, status = 200, headers: Record<string, string> = {}): string {
	return http(status, { 'Content-Type': 'application/json', ...headers }, JSON.stringify(body));
}
