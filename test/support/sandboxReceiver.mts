import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A delivery as it came over the wire. */
export interface ReceivedDelivery {
	method?: string;
	headers: IncomingHttpHeaders;
	body: Buffer;
	/** The body read as JSON. */
	json(): { event: string; id: string; created: number; data: Record<string, unknown> };
}

export interface Receiver {
	url: string;
	/** Oldest first. */
	received: ReceivedDelivery[];
	close(): Promise<void>;
}

/** Answers a delivery; `number` counts from 1. */
export type Answer = (response: ServerResponse, number: number) => void;

/**
 * A partner's server on a real socket.
 *
 * @param answer HTTP 200 at once when missing
 * @param port any free one when missing
 */
export async function startReceiver(
	answer: Answer = (response) => response.end(),
	port = 0,
): Promise<Receiver> {
	const received: ReceivedDelivery[] = [];
	const server = createServer(async (request, response) => {
		const body = await buffer(request);
		const { method, headers } = request;
		received.push({ method, headers, body, json: () => JSON.parse(body.toString()) });
		answer(response, received.length);
	});
	await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
		received,
		close: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
