import type { AddressInfo } from 'node:net';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';

export type MailServer = Awaited<ReturnType<typeof startMailServer>>;

/** Takes every mail, on the loopback address, over plain SMTP and from anyone. */
export async function startMailServer() {
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
		/** All so far, oldest first. */
		mails,
		close: async () => await new Promise<void>((resolve) => server.close(() => resolve())),
	};
}
