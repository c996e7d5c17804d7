import { join, resolve } from 'node:path';

import { readNumber, readOptions } from '../host/commandLine.mts';
import { dataFolder } from '../host/paths.mts';
import { describeError } from '../host/trouble.mts';
import { SANDBOX_AI_TOKENS, SANDBOX_KEYS, SANDBOX_PLANS, SEED_USERS } from './seed.mts';
import { DEFAULT_PORT, startSandbox } from './server.mts';

const defaultFile = join(dataFolder(), 'sandbox.sqlite');

const HELP = `The partner service for development, with seeded data and public keys.

Usage: npm run sandbox -- [switches]

  --port <number>  listen on this port of 127.0.0.1, 0 for any free one (default: ${DEFAULT_PORT})
  --file <path>    keep the data in this SQLite file (default: ${defaultFile})
  --in-memory      keep the data in memory only
  --reset          fill the database anew
  --users <number> fill a new database with so many users, 2.5 resumes each (default: ${SEED_USERS})
  --help           show this text
`;

/** @throws a switch is unknown or its value cannot be used */
async function run(): Promise<void> {
	const switches = readOptions(
		{
			port: { type: 'string', default: String(DEFAULT_PORT) },
			file: { type: 'string' },
			'in-memory': { type: 'boolean', default: false },
			reset: { type: 'boolean', default: false },
			users: { type: 'string', default: String(SEED_USERS) },
			help: { type: 'boolean', default: false },
		},
		HELP,
	);
	const { file, 'in-memory': inMemory } = switches;
	if (switches.help) return console.log(HELP);
	const data = inMemory ? ':memory:' : resolve(file ?? defaultFile);
	const sandbox = await startSandbox({
		port: readNumber('port', switches.port, 0, 65_535),
		users: readNumber('users', switches.users, 1, 1_000_000),
		file: data,
		reset: switches.reset,
	});
	console.log(`The sandbox is running. Ctrl-C stops it.

  Base URL   ${sandbox.baseUrl}
  Console    ${sandbox.url}  users, resumes to edit, webhooks
  Data       ${inMemory ? 'in memory, gone when the sandbox stops' : data}

  Private keys
    ${SANDBOX_KEYS.live}         everything works
    ${SANDBOX_KEYS.unarranged}   plan upgrades are not arranged
  Plans      ${Object.values(SANDBOX_PLANS).join(', ')}
  AI tokens  ${Object.values(SANDBOX_AI_TOKENS).join(', ')}
`);
	for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void sandbox.close());
}

try {
	await run();
} catch (error) {
	console.error(describeError(error));
	process.exitCode = 1;
}
