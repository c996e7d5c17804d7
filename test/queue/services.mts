import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { systemCode, Trouble } from '../../host/trouble.mts';

/** A database of PostgreSQL and a prefix of Redis's keys that nobody else uses. */
export interface Services {
	/** What lets n8n use them. */
	env: Record<string, string>;
	/** Rows that a statement finds in the database. */
	query<Row extends object>(statement: string, values?: unknown[]): Promise<Row[]>;
	/** Removes the database and the keys. */
	remove(): Promise<void>;
}

const redisUrl = new URL(process.env.QUEUE_REDIS_URL ?? 'redis://127.0.0.1:6379');
const postgresUrl = new URL(
	process.env.QUEUE_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres',
);

/** @throws {Trouble} where Redis or PostgreSQL is missing, or refuses */
export async function prepareServices(): Promise<Services> {
	const name = `resume_management_queue_${randomBytes(4).toString('hex')}`;
	const options = { lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 };
	const redis = new Redis(redisUrl.href, options);
	const postgres = new Client({ connectionString: postgresUrl.href });
	// Each error is also that of a command; without a listener it is printed, or ends the process.
	for (const client of [redis, postgres]) client.on('error', () => {});
	// A server that wants a password says so at the first command.
	await redis.ping().catch(refusedBy('QUEUE_REDIS_URL', redisUrl));
	await postgres.connect().catch(refusedBy('QUEUE_POSTGRES_URL', postgresUrl));
	await postgres.query(`CREATE DATABASE ${name}`);
	const database = new Client({ connectionString: new URL(`/${name}`, postgresUrl).href });
	await database.connect();
	return {
		env: {
			QUEUE_BULL_PREFIX: `${name}:bull`,
			N8N_REDIS_KEY_PREFIX: name,
			QUEUE_BULL_REDIS_DB: redisUrl.pathname.slice(1) || '0',
			...access('QUEUE_BULL_REDIS', 'USERNAME', redisUrl, '6379'),
			DB_TYPE: 'postgresdb',
			DB_POSTGRESDB_DATABASE: name,
			...access('DB_POSTGRESDB', 'USER', postgresUrl, '5432'),
		},
		query: async <Row extends object>(statement: string, values?: unknown[]) =>
			(await database.query<Row>(statement, values)).rows,
		remove: async () => {
			await database.end();
			await postgres.query(`DROP DATABASE ${name} WITH (FORCE)`);
			for await (const keys of redis.scanStream({ match: `${name}:*`, count: 1_000 })) {
				if ((keys as string[]).length > 0) await redis.unlink(keys as string[]);
			}
			await postgres.end();
			redis.disconnect();
		},
	};
}

function refusedBy(variable: string, { protocol, host, port }: URL) {
	return (error: Error): never => {
		// A name with several addresses fails with an AggregateError without a message.
		const reason = error.message || systemCode(error) || String(error);
		const example = `${variable}=${protocol}//user:password@host:${port}`;
		throw new Trouble(
			`${host} can't be used (${reason}): start it, or choose another one, for example ${example}.`,
		);
	};
}

/** n8n's variables for the address of a server, and who signs in there. */
function access(prefix: string, user: string, url: URL, port: string): Record<string, string> {
	return {
		[`${prefix}_HOST`]: url.hostname,
		[`${prefix}_PORT`]: url.port || port,
		[`${prefix}_${user}`]: decodeURIComponent(url.username),
		[`${prefix}_PASSWORD`]: decodeURIComponent(url.password),
	};
}
