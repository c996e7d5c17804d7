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

const namePrefix = 'resume_management_queue_';
/** Any number that nobody else uses with this PostgreSQL. */
const lockNumber = 1_413_829_460;
const connectMilliseconds = 5_000;
const redisUrl = new URL(process.env.QUEUE_REDIS_URL ?? 'redis://127.0.0.1:6379');
const postgresUrl = new URL(
	process.env.QUEUE_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres',
);

/** @throws {Trouble} where Redis or PostgreSQL is missing, or refuses */
export async function requireServices(): Promise<void> {
	(await connectRedis()).disconnect();
	await (await connectPostgres()).end();
}

/** @throws {Trouble} where Redis or PostgreSQL is missing, or refuses */
export async function prepareServices(): Promise<Services> {
	const redis = await connectRedis();
	const postgres = await connectPostgres();
	const removeBoth = async (name: string) => {
		await postgres.query(`DROP DATABASE ${name} WITH (FORCE)`);
		for await (const keys of redis.scanStream({ match: `${name}:*`, count: 1_000 })) {
			if ((keys as string[]).length > 0) await redis.unlink(keys as string[]);
		}
	};
	// Another run must not take the new database for one that was left, before it has a connection.
	await postgres.query('SELECT pg_advisory_lock($1)', [lockNumber]);
	for (const name of await leftDatabases(postgres)) await removeBoth(name);
	const name = namePrefix + randomBytes(4).toString('hex');
	await postgres.query(`CREATE DATABASE ${name}`);
	const url = new URL(postgresUrl);
	url.pathname = name;
	const database = new Client({ connectionString: url.href });
	await database.connect();
	await postgres.query('SELECT pg_advisory_unlock($1)', [lockNumber]);

	return {
		env: { ...redisEnvironment(name), ...postgresEnvironment(name) },
		query: async <Row extends object>(statement: string, values?: unknown[]) =>
			(await database.query<Row>(statement, values)).rows,
		remove: async () => {
			await database.end();
			await removeBoth(name);
			await postgres.end();
			redis.disconnect();
		},
	};
}

/** What a run that was killed has left: the database of one that lives has a connection, its own. */
async function leftDatabases(postgres: Client): Promise<string[]> {
	const { rows } = await postgres.query<{ datname: string }>(
		`SELECT datname FROM pg_database WHERE starts_with(datname, $1)
		AND datname NOT IN (SELECT datname FROM pg_stat_activity WHERE datname IS NOT NULL)`,
		[namePrefix],
	);
	return rows.map(({ datname }) => datname);
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
		throw refused(
			'Redis',
			redisUrl,
			'QUEUE_REDIS_URL=redis://user:password@host:6379',
			reason ?? error,
		);
	}
}

async function connectPostgres(): Promise<Client> {
	const postgres = new Client({
		connectionString: postgresUrl.href,
		connectionTimeoutMillis: connectMilliseconds,
	});
	try {
		await postgres.connect();
		const { rows } = await postgres.query<{ may: boolean }>(
			'SELECT rolcreatedb OR rolsuper AS may FROM pg_roles WHERE rolname = current_user',
		);
		if (!rows[0]?.may) throw new Error('its user may not create databases');
		return postgres;
	} catch (error) {
		await postgres.end();
		throw refused(
			'PostgreSQL',
			postgresUrl,
			'QUEUE_POSTGRES_URL=postgres://user:password@host:5432/postgres',
			error,
		);
	}
}

function refused(service: string, url: URL, example: string, error: unknown): Trouble {
	// A name with several addresses fails with an AggregateError without a message.
	const { message } = error as Error;
	const reason = message || systemCode(error) || String(error);
	return new Trouble(
		`${service} can't be used at ${url.host} (${reason}): start it, or choose another one, for example ${example}.`,
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
