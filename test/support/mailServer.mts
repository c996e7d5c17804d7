import type { AddressInfo } from 'node:net';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';

export interface MailServer {
	port: number;
	/** All mails so far, oldest first. */
	mails: Email[];
	close(): Promise<void>;
}

/** Takes every mail, on the loopback address, over plain SMTP and from anyone. */
export async function startMailServer(): Promise<MailServer> {
	const mails: Email[] = [];
	const server = new SMTPServer({
		disabledCommands: ['AUTH', 'STARTTLS'],
		async onData(stream, _, callback) {
			mails.push(await PostalMime.parse(Buffer.concat(await stream.toArray())));
			callback();
		},
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
	return {
		port: (server.server.address() as AddressInfo).port,
		mails,
		close: async () => await new Promise((resolve) => server.close(() => resolve())),
	};
}
