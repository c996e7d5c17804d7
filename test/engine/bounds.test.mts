import { once } from 'node:events';
import { gzipSync } from 'node:zlib';

import { userGet } from '../support/parameters.mts';
import { useRawService } from '../support/service.mts';

/** No answer stops n8n: what is in words is read up to a bound. That it is looked at once: test/unit/hostileTexts.test.mts. */

/** A megabyte in 1 KB; more than one of them are one text, too. */
const BLANKS = gzipSync(Buffer.alloc(1024 * 1024, ' '));

let megabytes = 0;
let closed: Promise<unknown> | undefined;
/** Answers with so many megabytes and a record; where they are too many, it sends no end. */
const { run } = useRawService((_, socket) => {
	closed = once(socket, 'close');
	socket.write('HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n');
	for (let count = 0; count < megabytes; count++) socket.write(BLANKS);
	if (megabytes < 32) socket.end(gzipSync('{"status":"success","data":{"id":1}}'));
});

const read = () => run({ ...userGet('1'), options: { retries: 0 } });

test('an answer of 31 MB is read, also unpacked', async () => {
	megabytes = 31;
	expect((await read()).items).toMatchObject([{ id: 1 }]);
});

test('an answer of more than 32 MB, unpacked, is an error, and its connection is closed', async () => {
	megabytes = 33;
	expect((await read()).error?.message).toBe('The answer is longer than 32 MB');
	await closed;
});
