import { join, resolve } from 'node:path';

import { readNumber, readOptions } from '../host/commandLine.mts';
import { dataFolder } from '../host/paths.mts';
import { describeError } from '../host/trouble.mts';
import { AI_CREDITS, SANDBOX_KEYS, SANDBOX_PLANS, SEED_USERS } from './seed.mts';
import { DEFAULT_PORT, mailPortOf, startSandbox } from './server.mts';

const defaultFile = join(dataFolder(), 'sandbox.sqlite');

const HELP = `Starts the partner service for development, with made-up data and public keys.

Usage: npm run sandbox -- [options]

  --port <number>   listen on this port of 127.0.0.1, or on any free port if it is 0 (${DEFAULT_PORT}). Emails arrive on the next one
  --file <path>     keep the data in this SQLite file (${defaultFile})
  --in-memory       keep the data in memory only
  --reset           fill the database again
  --users <number>  fill a new database with this many users (${SEED_USERS})
  --help            show this text
`;

/** @throws {Trouble} if an option is unknown or can't be used */
async function run(): Promise<void> {
	const options = readOptions(
		{
			port: { type: 'string', default: String(DEFAULT_PORT) },
			file: { type: 'string', default: defaultFile },
			'in-memory': { type: 'boolean' },
			reset: { type: 'boolean' },
			users: { type: 'string', default: String(SEED_USERS) },
			help: { type: 'boolean' },
		},
		HELP,
	);
	if (options.help) return console.log(HELP);
	const file = options['in-memory'] ? ':memory:' : resolve(options.file);
	const port = readNumber('port', options.port, 0, 65_534);
	const sandbox = await startSandbox({
		port,
		mailPort: mailPortOf(port),
		users: readNumber('users', options.users, 1, 1_000_000),
		file,
		reset: options.reset,
	});
	console.log(`The sandbox is running. Ctrl-C stops it.

Base URL    ${sandbox.baseUrl}
Web pages   ${sandbox.url}
SMTP        127.0.0.1, port ${sandbox.mailPort}, without a login and TLS
Data        ${file}
Key         ${SANDBOX_KEYS.live}, or ${SANDBOX_KEYS.unarranged}, which may not upgrade plans
Plans       ${Object.values(SANDBOX_PLANS).join(', ')}
AI tokens   ${[...AI_CREDITS.keys()].join(', ')}
`);
	for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void sandbox.close());
}

try {
	await run();
} catch (error) {
	console.error(describeError(error));
	process.exitCode = 1;
}
