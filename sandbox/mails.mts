import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';

import { unixTime } from './store.mts';

/** An email as a person reads it. */
export interface Mail {
	/** Unix seconds of the arrival. */
	time: number;
	/** Addresses of the envelope, which decide who gets the email. */
	from: string;
	to: string;
	subject: string;
	text: string;
	html?: string;
}

export type MailServer = Awaited<ReturnType<typeof startMailServer>>;

/** Takes every email on a port, over plain SMTP and without a login, and passes it to `keep`. */
export async function startMailServer(host: string, port: number, keep: (mail: Mail) => void) {
	const server = new SMTPServer({
		disabledCommands: ['AUTH', 'STARTTLS'],
		disableReverseLookup: true,
		closeTimeout: 1,
		onData: (stream, { envelope }, done) => {
			const receive = async () => {
				const { subject = '', text = '', html } = await PostalMime.parse(await buffer(stream));
				const from = envelope.mailFrom ? envelope.mailFrom.address : '';
				const to = envelope.rcptTo.map(({ address }) => address).join(', ');
				keep({ time: unixTime(), from, to, subject, text, html });
			};
			receive().then(() => done(), done);
		},
	});
	// A sender that hangs up is no failure of the sandbox. A port in use fails below.
	server.on('error', () => {});
	const listener = server.listen(port, host);
	await once(listener, 'listening');
	return {
		port: (listener.address() as AddressInfo).port,
		close: async () => await new Promise<void>((resolve) => server.close(resolve)),
	};
}
