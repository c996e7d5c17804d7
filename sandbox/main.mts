import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { StartError } from './errors.mts';
import { SANDBOX_AI_TOKENS, SANDBOX_KEYS, SANDBOX_PLANS } from './seed.mts';
import { DEFAULT_PORT, startSandbox, type SandboxOptions } from './server.mts';

const HELP = `The partner service for development, with seeded data and public keys.

Usage: npm run sandbox -- [switches]

  --port <number>  listen on this port of 127.0.0.1, 0 for any free one (default: ${DEFAULT_PORT})
  --file <path>    keep the data in this SQLite file (default: ${defaultFile()})
  --in-memory      keep the data in memory only
  --reset          fill the database anew
  --help           show this text
`;

type Settings = Required<Pick<SandboxOptions, 'port' | 'file' | 'reset'>>;

/**
 * @returns the settings, or `undefined` when help was asked for
 * @throws {StartError} a switch is unknown or its value cannot be used
 */
function readSwitches(): Settings | undefined {
	const switches = parseSwitches();
	if (switches.help) return undefined;
	const inMemory = switches['in-memory'];
	if (inMemory && switches.file !== undefined) {
		throw new StartError('Use either --file or --in-memory, not both.');
	}
	if (!/^\d{1,5}$/.test(switches.port) || Number(switches.port) > 65_535) {
		throw new StartError(`--port takes a number from 0 to 65535, not "${switches.port}".`);
	}
	return {
		port: Number(switches.port),
		file: inMemory ? ':memory:' : resolve(switches.file ?? defaultFile()),
		reset: switches.reset,
	};
}

function parseSwitches() {
	try {
		return parseArgs({
			options: {
				port: { type: 'string', default: String(DEFAULT_PORT) },
				file: { type: 'string' },
				'in-memory': { type: 'boolean', default: false },
				reset: { type: 'boolean', default: false },
				help: { type: 'boolean', default: false },
			},
		}).values;
	} catch (error) {
		throw new StartError(`${(error as Error).message}. See --help for the switches.`);
	}
}

/** Where the operating system wants a user's application data. */
function defaultFile(): string {
	const { XDG_DATA_HOME, LOCALAPPDATA } = process.env;
	const folders: Partial<Record<NodeJS.Platform, string>> = {
		darwin: join(homedir(), 'Library', 'Application Support'),
		win32: LOCALAPPDATA || join(homedir(), 'AppData', 'Local'),
	};
	const folder = folders[process.platform] ?? (XDG_DATA_HOME || join(homedir(), '.local', 'share'));
	return join(folder, 'n8n-nodes-resume-management', 'sandbox.sqlite');
}

async function run(): Promise<void> {
	const settings = readSwitches();
	if (settings === undefined) {
		console.log(HELP);
		return;
	}
	const sandbox = await startSandbox(settings);
	console.log(`The sandbox is running. Ctrl-C stops it.

  Base URL   ${sandbox.baseUrl}
  Console    ${sandbox.url}  users, resumes to edit, webhooks
  Data       ${settings.file === ':memory:' ? 'in memory, gone when the sandbox stops' : settings.file}

  Private keys
    ${SANDBOX_KEYS.live}         everything works
    ${SANDBOX_KEYS.unarranged}   plan upgrades are not arranged
  Plans      ${Object.values(SANDBOX_PLANS).join(', ')}
  AI tokens  ${Object.values(SANDBOX_AI_TOKENS).join(', ')}
`);
	const stop = () => {
		console.log('The sandbox is stopping.');
		void sandbox.close();
	};
	process.once('SIGINT', stop);
	process.once('SIGTERM', stop);
}

try {
	await run();
} catch (error) {
	console.error(error instanceof StartError ? error.message : error);
	process.exitCode = 1;
}
