/**
 * Loaded into n8n's process (`node --import`) to end it when the process that started it is gone,
 * however that one ended: the operating system then closes the other end of this pipe.
 */
import { Socket } from 'node:net';
import { orphanGuardDescriptor, shutdownMilliseconds } from './shutdown.mts';

// Its log goes to the same process. n8n logs every uncaught exception, a failed write of its log
// included, and would do so forever (n8n-core/dist/errors/error-reporter.js).
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

const pipe = new Socket({ fd: orphanGuardDescriptor, readable: true });
pipe.unref();
pipe.once('close', () => {
	process.kill(process.pid, 'SIGTERM');
	setTimeout(() => process.exit(1), shutdownMilliseconds).unref();
});
pipe.resume();
