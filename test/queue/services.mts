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

const connectMilliseconds = 5_000;
const redisUrl = new URL(process.env.QUEUE_REDIS_URL ?? 'redis://127.0.0.1:6379');
const postgresUrl = new URL(
	process.env.QUEUE_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres',
);

/** @throws {Trouble} where Redis or PostgreSQL is missing, or refuses */
export async function prepareServices(): Promise<Services> {
	const redis = await connectRedis();
	const postgres = await connectPostgres(postgresUrl);
	const name = `resume_management_queue_${randomBytes(4).toString('hex')}`;
	await postgres.query(`CREATE DATABASE ${name}`);
	const database = await connectPostgres(new URL(`/${name}`, postgresUrl));
	return {
		env: { ...redisEnvironment(name), ...postgresEnvironment(name) },
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

async function connectRedis(): Promise<Redis> {
	const redis = new Redis(redisUrl.href, {
		lazyConnect: true,
		connectTimeout: connectMilliseconds,
		retryStrategy: () => null,
		maxRetriesPerRequest: 0,
	});
	// connect() tells only that the connection was closed, not why.
	let reason: unknown;
	redis.on('error', (error) => (reason = error));
	try {
		await redis.connect();
		// A server that wants a password says so at the first command.
		await redis.ping();
		return redis;
	} catch (error) {
		redis.disconnect();
		throw refused('QUEUE_REDIS_URL', redisUrl, reason ?? error);
	}
}

async function connectPostgres(url: URL): Promise<Client> {
	const postgres = new Client({
		connectionString: url.href,
		connectionTimeoutMillis: connectMilliseconds,
	});
	try {
		await postgres.connect();
		return postgres;
	} catch (error) {
		await postgres.end();
		throw refused('QUEUE_POSTGRES_URL', url, error);
	}
}

function refused(variable: string, url: URL, error: unknown): Trouble {
	// A name with several addresses fails with an AggregateError without a message.
	const { message } = error as Error;
	const reason = message || systemCode(error) || String(error);
	const example = `${variable}=${url.protocol}//user:password@host:${url.port}`;
	return new Trouble(
		`${url.host} can't be used (${reason}): start it, or choose another one, for example ${example}.`,
	);
}

function redisEnvironment(prefix: string): Record<string, string> {
	return {
		QUEUE_BULL_PREFIX: `${prefix}:bull`,
		N8N_REDIS_KEY_PREFIX: prefix,
		QUEUE_BULL_REDIS_HOST: redisUrl.hostname,
		QUEUE_BULL_REDIS_PORT: redisUrl.port || '6379',
		QUEUE_BULL_REDIS_DB: redisUrl.pathname.slice(1) || '0',
		QUEUE_BULL_REDIS_USERNAME: decodeURIComponent(redisUrl.username),
		QUEUE_BULL_REDIS_PASSWORD: decodeURIComponent(redisUrl.password),
	};
}

function postgresEnvironment(database: string): Record<string, string> {
	return {
		DB_TYPE: 'postgresdb',
		DB_POSTGRESDB_DATABASE: database,
		DB_POSTGRESDB_HOST: postgresUrl.hostname,
		DB_POSTGRESDB_PORT: postgresUrl.port || '5432',
		DB_POSTGRESDB_USER: decodeURIComponent(postgresUrl.username),
		DB_POSTGRESDB_PASSWORD: decodeURIComponent(postgresUrl.password),
	};
}
