import { startMailServer as start } from '../../sandbox/mails.mts';

export type MailServer = Awaited<ReturnType<typeof startMailServer>>;

/** Accepts every email on the loopback address, as the sandbox does. */
export async function startMailServer() {
	/** Each email, oldest first. */
	const mails: string[] = [];
	const server = await start('127.0.0.1', 0, ({ subject, to, html, text }) => {
		mails.push(`Subject: ${subject}\nTo: ${to}\n\n${html ?? text}`);
	});
	return { ...server, mails };
}
