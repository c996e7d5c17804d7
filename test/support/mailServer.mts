import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';

export type MailServer = Awaited<ReturnType<typeof startMailServer>>;

/** Accepts every email on the loopback address, over plain SMTP and without a login. */
export async function startMailServer() {
	/** Headers and body of each email, oldest first, without the line breaks of quoted-printable. */
	const mails: string[] = [];
	const server = createServer(async (socket) => {
		let mail: string[] | undefined;
		socket.write('220 ready\r\n');
		for await (const line of createInterface(socket)) {
			if (mail === undefined) {
				if (line === 'DATA') mail = [];
				socket.write(mail ? '354 send the email\r\n' : '250 OK\r\n');
			} else if (line === '.') {
				mails.push(mail.join('\n').replace(/=\n/g, '').replaceAll('=3D', '='));
				mail = undefined;
				socket.write('250 OK\r\n');
			} else mail.push(line);
		}
	});
	await once(server.listen(0, '127.0.0.1'), 'listening');
	const { port } = server.address() as AddressInfo;
	return { port, mails, close: () => void server.close() };
}
