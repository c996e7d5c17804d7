import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { installHost, installPackage, packPackage } from '../../host/install.mts';
import { headless, startN8n, type N8nCommand } from '../../host/n8n.mts';
import { reportTo } from '../../host/progress.mts';
import { owner } from '../../host/workspace.mts';
import { startSandbox } from '../../sandbox/server.mts';
import { workIn } from '../host/instance.mts';
import { TestApi } from '../support/testApi.mts';

export type Topology = Awaited<ReturnType<typeof startTopology>>;

export async function startTopology(major: number) {
	const cleanups: Array<() => Promise<unknown>> = [];
	const close = async () => {
		for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
	};
	try {
		const services = await prepareServices(cleanups);
		const folder = await mkdtemp(join(tmpdir(), 'resume-management-queue-'));
		cleanups.push(async () => await rm(folder, { recursive: true, force: true }));
		const sandbox = await startSandbox({ port: 0, record: true });
		cleanups.push(sandbox.close);
		const host = await installHost(major, reportTo(process.stderr));
		const withPackage = join(folder, 'package');
		await installPackage(withPackage, await packPackage(folder));
		const env = {
			...headless,
			...services,
			EXECUTIONS_MODE: 'queue',
			// A process that is busy waits for its database. With n8n's defaults of 2 and 20000 it fails.
			DB_POSTGRESDB_POOL_SIZE: '10',
			DB_POSTGRESDB_CONNECTION_TIMEOUT: '60000',
			N8N_DISABLE_PRODUCTION_MAIN_PROCESS: 'true',
			N8N_ENCRYPTION_KEY: randomBytes(24).toString('hex'),
			// n8n 2 otherwise makes an isolate of V8 for each webhook and each execution.
			N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE: 'true',
			// Workers log at this level which executions they start.
			N8N_LOG_LEVEL: 'info',
			// At most a sixth of n8n's defaults, so that a killed worker is noticed sooner.
			QUEUE_WORKER_LOCK_DURATION: '10000',
			QUEUE_WORKER_LOCK_RENEW_TIME: '1500',
			QUEUE_WORKER_STALLED_INTERVAL: '3000',
		};
		/** Starts a process with a user folder of its own, as on a machine of its own. */
		const launch = async (name: string, command: N8nCommand) => {
			const userFolder = join(folder, name);
			await cp(withPackage, userFolder, { recursive: true });
			const n8n = await startN8n({ host, command, userFolder, env });
			cleanups.push(n8n.stop);
			return n8n;
		};
		// The main process creates the tables that the others need.
		const main = await launch('main', 'start');
		const [webhook, ...workers] = await Promise.all([
			launch('webhook', 'webhook'),
			launch('worker-1', 'worker'),
			launch('worker-2', 'worker'),
		]);

		const api = new TestApi(main.url);
		await api.signIn(owner);
		const logTails = () => [main, webhook, ...workers].map((n8n) => n8n.logTail()).join('\n\n');
		const work = workIn(api, webhook.url, join(folder, 'main'), sandbox);
		return { ...work, workers, logTails, close };
	} catch (error) {
		await close();
		throw error;
	}
}

/** Creates a database in PostgreSQL and a prefix for keys in Redis, and returns n8n's variables for both. */
async function prepareServices(cleanups: Array<() => Promise<unknown>>) {
	const name = `resume_management_queue_${randomBytes(4).toString('hex')}`;
	const host = '127.0.0.1';
	const postgres = new Client({ host, user: 'postgres' });
	await postgres.connect();
	cleanups.push(async () => await postgres.end());
	await postgres.query(`CREATE DATABASE ${name}`);
	cleanups.push(async () => await postgres.query(`DROP DATABASE ${name} WITH (FORCE)`));
	const redis = new Redis({ host, retryStrategy: () => null });
	cleanups.push(async () => await redis.quit());
	await redis.ping();
	cleanups.push(async () => {
		for await (const keys of redis.scanStream({ match: `${name}:*`, count: 1_000 })) {
			if (keys.length > 0) await redis.unlink(keys);
		}
	});
	return {
		QUEUE_BULL_PREFIX: `${name}:bull`,
		N8N_REDIS_KEY_PREFIX: name,
		QUEUE_BULL_REDIS_HOST: host,
		DB_TYPE: 'postgresdb',
		DB_POSTGRESDB_HOST: host,
		DB_POSTGRESDB_DATABASE: name,
	};
}
