/**
 * `npm start`: runs a real n8n with this package, and the sandbox, both on the loopback address, until Ctrl-C. `npm run dev`:
 * the same with separate data; n8n loads each change of the sources.
 */
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { SANDBOX_KEYS, SANDBOX_PLANS } from '../sandbox/seed.mts';
import { mailPortOf, startSandbox, type Sandbox } from '../sandbox/server.mts';
import { buildPackage, watchPackage } from './build.mts';
import { readNumber, readOptions } from './commandLine.mts';
import { installHost, installPackage, packageFolder, packPackage } from './install.mts';
import { tryLock } from './lock.mts';
import { startN8n } from './n8n.mts';
import { dataFolder } from './paths.mts';
import { checkPort, portTrouble } from './ports.mts';
import { reportTo } from './progress.mts';
import { EditorApi, EditorApiError } from './rest.mts';
import { describeError, Trouble } from './trouble.mts';
import {
	connectExamples,
	firstTag,
	owner,
	prepareWorkspace,
	withoutAssistant,
	type ExampleWorkflow,
} from './workspace.mts';

const major = 2;

/** Webhook secret of the credential and of the sandbox, which only this machine can reach. */
const webhookSecret = 'sandbox_webhook_secret';

const help = `Starts n8n with the Resume Management nodes, and a sandbox of the service.

  npm start -- [options]

  --port <number>          port of n8n (5678)
  --sandbox-port <number>  port of the sandbox (8787). Emails arrive on the next one
  --reset                  forget all data of this n8n and of the sandbox first
  --watch                  follow changes of the sources, with data of its own (npm run dev)
  --help                   show this text

The first start installs n8n, about 3 GB beside the 1.6 GB of npm ci, and takes some minutes. Ctrl-C stops both.`;

/** Runs n8n and the sandbox until `signal` aborts. */
async function run(signal: AbortSignal): Promise<void> {
	const options = readOptions(
		{
			port: { type: 'string', default: '5678' },
			'sandbox-port': { type: 'string', default: '8787' },
			reset: { type: 'boolean', default: false },
			watch: { type: 'boolean', default: false },
			help: { type: 'boolean', default: false },
		},
		help,
	);
	if (options.help) return console.log(help);
	const { reset, watch } = options;
	const port = readNumber('port', options.port, 1, 65_535);
	const sandboxPort = readNumber('sandbox-port', options['sandbox-port'], 1, 65_534);
	const mailPort = mailPortOf(sandboxPort);
	// npm's cache is there, even if XDG_CACHE_HOME and XDG_DATA_HOME name other folders.
	const home = homedir();
	if (statSync(home, { throwIfNoEntry: false })?.isDirectory() === false) {
		throw new Trouble(
			`Your home, ${home}, is a file: set HOME to a folder, and run the command again.`,
		);
	}
	const report = reportTo(process.stdout);
	const folder = watch ? join(dataFolder(), 'dev') : dataFolder();
	const userFolder = join(folder, `n8n-${major}`);
	const unlock = await tryLock(join(folder, 'start.lock'));
	if (unlock === undefined) {
		throw new Trouble(
			`Another \`npm start\` is using ${folder}: use that one, or stop it first (Ctrl-C in its terminal).`,
		);
	}

	const cleanups = [unlock];
	try {
		for (const [option, wanted] of [
			['port', port],
			['sandbox-port', sandboxPort],
			['sandbox-port', mailPort],
		] as const) {
			await checkPort(wanted).catch((error: unknown) => {
				throw portTrouble(error, wanted, `npm start -- --${option}`);
			});
		}
		const host = await installHost(major, report, signal);
		await buildPackage(report, signal);
		if (reset) await rm(userFolder, { recursive: true, force: true });
		await installPackage(userFolder, await packPackage(join(folder, 'package'), signal));
		const n8n = await report('Starting n8n', async () => {
			// n8n reloads the package when its files change, and logs the reason of a failure at the level "debug" (setupHotReload in
			// n8n/src/load-nodes-and-credentials.ts).
			const reloading = { N8N_DEV_RELOAD: 'true', N8N_LOG_LEVEL: 'debug' };
			const env = { ...withoutAssistant, ...(watch && reloading) };
			const onLine = (line: string) => line.includes('Hot reload') && console.log(line);
			return await startN8n({ host, userFolder, port, signal, env, onLine });
		});
		cleanups.push(n8n.stop);
		// After n8n: while n8n migrates its database, it responds to every request with 200, and waiting events of the sandbox
		// would be lost (setupHealthCheck in n8n/dist/abstract-server.js).
		const file = join(folder, 'sandbox.sqlite');
		const sandbox = await startSandbox({ port: sandboxPort, mailPort, file, reset });
		cleanups.push(sandbox.close);
		const found = await report(
			'Setting up credential and examples',
			async () => await setUp(new EditorApi(n8n.url), sandbox),
		);
		console.log(summary(n8n.url, sandbox.url, folder, found));
		signal.throwIfAborted();
		await Promise.race([
			n8n.ended,
			watch ? watchPackage(packageFolder(userFolder), report, signal) : once(signal, 'abort'),
		]);
		if (!signal.aborted) throw new Trouble(`n8n ended. The end of its log:\n${n8n.logTail()}`);
	} finally {
		if (signal.aborted) console.log('\nStopping …');
		for (const cleanUp of cleanups.reverse()) await cleanUp();
	}
}

interface Examples {
	examples: ExampleWorkflow[];
	/** Path of n8n's list with the examples to try first. */
	path: string;
}

/** Returns the examples; `undefined`, and changes nothing, if the user has changed the owner's login. */
async function setUp(
	api: EditorApi,
	{ baseUrl, mailPort, webhooks }: Sandbox,
): Promise<Examples | undefined> {
	try {
		await api.signIn(owner);
	} catch (error) {
		if (error instanceof EditorApiError && error.httpStatus === 401) return undefined;
		throw error;
	}
	const access = { baseUrl, privateKey: SANDBOX_KEYS.live, webhookSecret, mailPort };
	const examples = await prepareWorkspace(api, access);
	const problems = await connectExamples(api, webhooks, webhookSecret, examples);
	for (const problem of problems) console.log(`\n${problem}`);
	return { examples, path: `/home/workflows?tags=${await api.tagId(firstTag)}` };
}

/** Returns the addresses, the login, and what to try first. */
function summary(editorUrl: string, sandboxUrl: string, folder: string, found?: Examples): string {
	const list = editorUrl + (found?.path ?? '/home/workflows');
	const address = (file: string) => {
		const example = found?.examples.find((one) => one.file === file);
		return example ? `${editorUrl}/workflow/${example.id}` : list;
	};
	return `
n8n       ${list}
Login     ${found ? `${owner.email}  ${owner.password}` : 'the login that you set in the editor'}
Sandbox   ${sandboxUrl}
Emails    ${sandboxUrl}/emails
Data      ${folder}

Three things to try:
1. Run an example: open it, and choose Execute workflow. Nothing is billed for real.
   ${address('nightly-sync')}
2. Send an event: choose a user and a resume in the sandbox, and save a section.
   ${sandboxUrl}, and then what it has started: ${editorUrl}/home/executions
3. Break a payment: open Payment received, edit its output (the pencil), give it the plan ${SANDBOX_PLANS.failingPayment} and a new id, and execute.
   ${address('upgrade-after-payment')}

Ctrl-C stops both. \`npm start -- --reset\` starts afresh.`;
}

const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
	process.on(signal, () => interruption.abort());
}
try {
	await run(interruption.signal);
} catch (error) {
	if (!interruption.signal.aborted) {
		console.error(`\n${describeError(error)}`);
		process.exitCode = 1;
	}
}
