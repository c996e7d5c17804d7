/**
 * Ends n8n when the process that started it is gone: the operating system then closes the other end of this pipe. n8n's
 * process loads it (`node --import`).
 */
import { Socket } from 'node:net';

// n8n's log goes to the same process. n8n logs each uncaught exception, also a failed write of its log, which would never end
// (n8n-core/dist/errors/error-reporter.js).
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

// The fourth of `stdio` in n8n.mts. n8n itself limits the time of its shutdown.
const pipe = new Socket({ fd: 3, readable: true });
pipe.unref();
pipe.once('close', () => process.kill(process.pid, 'SIGTERM'));
pipe.resume();
