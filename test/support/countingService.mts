import type { Socket } from 'node:net';
import { json, type RawRequest, startRawServer } from './rawServer.mts';

/** A write as the service reads it, with all that makes it another one. */
export interface Asked {
	writing: 'upgrade' | 'create' | 'token' | 'custom';
	account: string;
	/** The user's e-mail address or ID; in the path of a custom request. */
	name: string;
	/** The plan, or the content of another body. */
	content: string;
}

export interface Reaction {
	/** The service carries the write out, and counts it, whatever its response is. */
	bills: boolean;
	/** Proved by a complete response: a success, or a refusal with nothing done. */
	proves?: 'success' | 'refusal';
	/** Returns the response; undefined for silence. */
	respond(asked: Asked): string | undefined;
	/** Number of bytes of the response before the connection ends. All are sent by default. */
	cut?: number;
	resets?: boolean;
	breaks?: boolean;
}

/** Fault of a connection before anything is sent on it. With `stall`, the server is silent: over TLS, no handshake. */
export type ConnectionFault = 'none' | 'reset' | 'stall';

export interface Counted {
	/** Identifies the write, as {@link identify} does. */
	write: string;
	/** Number of the execution that was started last. */
	execution: number;
	billed: boolean;
	proved?: 'success' | 'refusal';
}

export const identify = ({ writing, account, name, content }: Asked) =>
	[writing, account, name, content].join(' ');

/** Confirms a write as the contract does, whatever was asked for. */
export const confirmation = ({ writing, content }: Asked): object => ({
	status: 'success',
	...(writing === 'token' && { token: 'abcdefgh' }),
	data: { status: 'active', plan_id: content },
});

export const CONFIRMS: Reaction = {
	bills: true,
	proves: 'success',
	respond: (asked) => json(confirmation(asked)),
};

export type CountingService = Awaited<ReturnType<typeof startCountingService>>;

/**
 * Starts a service that counts its requests, and what it carried out. Reactions and faults are used up in their order.
 * @param users the IDs of all users, whose addresses are at example.com
 */
export async function startCountingService(users: string[]) {
	let script = 0;
	let working = 0;
	const state = {
		counted: [] as Counted[],
		reactions: [] as Reaction[],
		lists: [] as Reaction[],
		connections: [] as ConnectionFault[],
		execution: 0,
		overlapped: false,
		onRequest: () => {},
	};
	const list: Reaction = {
		bills: false,
		respond: () => json({ status: 'success', data: users.map((id) => ({ id, email: mail(id) })) }),
	};

	const serve = (socket: Socket, request: RawRequest, raw: Socket) => {
		// A request of an earlier script, which its client has given up.
		if (!request.path.startsWith(`/${script}/`)) return;
		state.onRequest();
		const asked = readWrite(request);
		const isList = request.path.endsWith('/users');
		const reaction = isList ? (state.lists.shift() ?? list) : (state.reactions.shift() ?? CONFIRMS);
		const { bills, proves, respond, cut = Infinity, resets, breaks } = reaction;
		const text = respond(asked);
		// A client may lose what comes just before a reset, so the last byte is never sent then.
		const sent = text?.slice(0, resets ? Math.min(cut, text.length - 1) : cut);
		if (!isList) {
			const { execution } = state;
			const proved = sent === text && !breaks ? proves : undefined;
			state.counted.push({ write: identify(asked), execution, billed: bills, proved });
		}
		if (breaks) return void raw.end('neither TLS nor HTTP\r\n\r\n');
		if (sent === undefined) return;
		state.overlapped ||= working > 0;
		working++;
		// Long enough for another request to come in, if the client does not wait.
		setTimeout(() => {
			working--;
			const end = () => (resets && !raw.writableEnded ? raw.resetAndDestroy() : socket.end());
			if (sent === '') end();
			else socket.write(sent, end);
		}, 5);
	};
	const accept = (raw: Socket) => {
		const fault = state.connections.shift() ?? 'none';
		if (fault === 'reset') raw.resetAndDestroy();
		return fault === 'none';
	};
	const plain = await startRawServer(serve, { accept });
	const secure = await startRawServer(serve, { accept, tls: true });
	return {
		state,
		baseUrl: (address: string, tls: boolean) =>
			`http${tls ? 's' : ''}://127.0.0.1:${(tls ? secure : plain).port}/${script}/${address}/v1`,
		beginScript() {
			script++;
			working = 0;
			Object.assign(state, { counted: [], overlapped: false });
		},
		async close() {
			await Promise.all([plain.close(), secure.close()]);
		},
	};
}

function readWrite({ path, headers, body }: RawRequest): Asked {
	const [, , address, , ...rest] = path.split('/');
	const sent = JSON.parse(body || '{}') as Record<string, string>;
	const kinds = { upgrade: 'upgrade', token: 'token', resume: 'create' } as const;
	return {
		writing: kinds[rest.at(-1) as keyof typeof kinds] ?? 'custom',
		// A rotated key is another key of the same account.
		account: `${address} ${headers.authentication}`.replace('-rotated', ''),
		name: /key-\w+-person-\d/i.exec(path + body)?.[0].toLowerCase() ?? '',
		content: sent.planId ?? sent.content ?? '',
	};
}

export const mail = (name: string) => `${name}@example.com`;

export const garbage = () => 'garbage\r\n\r\n';
