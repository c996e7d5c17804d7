/**
 * `npm start`: runs a real n8n with this package, and the sandbox, both on the loopback address, until Ctrl-C. `npm run dev`:
 * the same with separate data; n8n loads each change of the sources.
 */
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SANDBOX_KEYS, SANDBOX_PLANS } from '../sandbox/seed.mts';
import { startSandbox, type Sandbox } from '../sandbox/server.mts';
import { buildPackage } from './build.mts';
import { readNumber, readOptions } from './commandLine.mts';
import { connectExamples } from './events.mts';
import { installHost, installPackage, packPackage } from './install.mts';
import { tryLock } from './lock.mts';
import { startN8n, type N8n, type N8nOptions } from './n8n.mts';
import { dataFolder, packageName } from './paths.mts';
import { requireFreePort } from './ports.mts';
import { reportTo } from './progress.mts';
import { EditorApi, EditorApiError } from './rest.mts';
import { describeError, Trouble } from './trouble.mts';
import { owner, prepareWorkspace, withoutAssistant, type ExampleWorkflow } from './workspace.mts';

const major = 2;

/** Webhook secret of the credential and of the sandbox, which only this machine can reach. */
const webhookSecret = 'sandbox_webhook_secret';

const help = `Starts n8n with the Resume Management nodes, and a sandbox of the service.

  npm start -- [options]

  --port <number>          port of n8n (5678)
  --sandbox-port <number>  port of the sandbox (8787)
  --reset                  forget all data of this n8n and of the sandbox first
  --watch                  follow changes of the sources, with data of its own (npm run dev)
  --help                   show this text

The first start installs n8n, about 2.2 GB beside the 1.3 GB of npm ci, and takes some minutes. Ctrl-C stops both.`;

/** @throws {Trouble} if an option is not valid */
function readSettings() {
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
	const port = (name: 'port' | 'sandbox-port') => readNumber(name, options[name], 1, 65_535);
	return { ...options, port: port('port'), sandboxPort: port('sandbox-port') };
}

/** Runs n8n and the sandbox until `signal` aborts. */
async function run(
	{ port, sandboxPort, reset, watch }: ReturnType<typeof readSettings>,
	signal: AbortSignal,
): Promise<void> {
	const report = reportTo(process.stdout);
	const folder = watch ? join(dataFolder(), 'dev') : dataFolder();
	const userFolder = join(folder, `n8n-${major}`);
	const unlock = await tryLock(join(folder, 'start.lock'));
	if (unlock === undefined) {
		throw new Trouble(
			`Another \`npm start\` is using ${folder}: use that one, or stop it first (Ctrl-C in its terminal).`,
		);
	}

	let sandbox: Sandbox | undefined;
	let n8n: N8n | undefined;
	try {
		await requireFreePort(port, '--port');
		await requireFreePort(sandboxPort, '--sandbox-port');
		await buildPackage(report, signal);
		const host = await installHost(major, report, signal);
		if (reset) await rm(userFolder, { recursive: true, force: true });
		const packages = join(userFolder, '.n8n', 'nodes');
		// The folder may have the code of the last `npm run dev`.
		if (watch) await rm(packages, { recursive: true, force: true });
		await report('Installing the package into n8n', async () => {
			const tarball = await packPackage(join(folder, 'package'), signal);
			await installPackage(userFolder, tarball, signal);
		});
		const { url: editorUrl, ended } = (n8n = await report('Starting n8n', async () => {
			const { env, onLine } = watch ? reloading : {};
			return await startN8n({
				host,
				userFolder,
				port,
				signal,
				env: { ...withoutAssistant, ...env },
				onLine,
			});
		}));
		// After n8n: while n8n migrates its database, it answers every request with 200, and waiting events of the sandbox would be
		// lost (setupHealthCheck in n8n/dist/abstract-server.js).
		const running = (sandbox = await startSandbox({
			port: sandboxPort,
			file: join(folder, 'sandbox.sqlite'),
			reset,
		}));
		const setup = await report(
			'Setting up credential and examples',
			async () => await setUp(editorUrl, running),
		);
		console.log(summary(editorUrl, running.url, folder, setup));
		if (watch) {
			// Loaded here, because only `npm run dev` needs the compiler.
			const { watchPackage } = await import('./watch.mts');
			const installed = join(packages, 'node_modules', packageName);
			await Promise.race([watchPackage(installed, console.log, signal), ended]);
		} else {
			await Promise.race([signal.aborted || once(signal, 'abort'), ended]);
		}
		if (!signal.aborted) throw new Trouble(`n8n ended. The end of its log:\n${n8n.logTail()}`);
	} finally {
		if (signal.aborted) console.log('\nStopping …');
		await n8n?.stop();
		await sandbox?.close();
		unlock();
	}
}

/**
 * Makes n8n reload an installed package when its files change, and reports it (setupHotReload and reloadLoader in
 * n8n/src/load-nodes-and-credentials.ts). n8n logs the reason of a failure at the level "debug".
 */
const reloading: Pick<N8nOptions, 'env' | 'onLine'> = {
	env: { N8N_DEV_RELOAD: 'true', N8N_LOG_LEVEL: 'debug' },
	onLine: (line) => {
		if (line.includes('Hot reload triggered')) console.log('✓ n8n loads the package anew');
		if (line.includes('Hot reload failed')) {
			const [, reason = '""'] = /"message":("(?:[^"\\]|\\.)*")/.exec(line) ?? [];
			console.log(`✗ n8n can't load the package: ${JSON.parse(reason)}`);
		}
	},
};

interface Setup {
	examples: ExampleWorkflow[];
	/** Remarks for the user, as sentences. */
	problems: string[];
}

/** Returns `undefined`, and changes nothing, if the user has changed the owner's login. */
async function setUp(editorUrl: string, sandbox: Sandbox): Promise<Setup | undefined> {
	const { baseUrl, webhooks } = sandbox;
	const api = new EditorApi(editorUrl);
	try {
		await api.signIn(owner);
	} catch (error) {
		if (error instanceof EditorApiError && error.httpStatus === 401) return undefined;
		throw error;
	}
	const access = { baseUrl, privateKey: SANDBOX_KEYS.live, webhookSecret };
	const examples = await prepareWorkspace(api, access);
	const route = { api, editorUrl, webhooks, secret: webhookSecret };
	return { examples, problems: await connectExamples(route, examples) };
}

const listPage = (editorUrl: string) => `${editorUrl}/home/workflows`;

/** Returns the addresses, the login, and what to try first. */
function summary(editorUrl: string, sandboxUrl: string, folder: string, setup?: Setup): string {
	const login = setup
		? `${owner.email}  ${owner.password}`
		: 'the login that you set in the editor';
	const problems = (setup?.problems ?? []).map((problem) => `\n${problem}\n`).join('');
	const address = (file: string) => {
		const example = setup?.examples.find((one) => one.file === file);
		return example ? `${editorUrl}/workflow/${example.id}` : listPage(editorUrl);
	};
	return `
n8n       ${listPage(editorUrl)}
Login     ${login}
Sandbox   ${sandboxUrl}
Data      ${folder}
${problems}
Three things to try:
1. Run an example: open it, and choose Execute workflow. Nothing is billed for real.
   ${address('users-resumes-scores')}
2. Send an event: choose a user and a resume in the sandbox, and save a section.
   ${sandboxUrl}, and then what it has started: ${editorUrl}/home/executions
3. Break a payment: put the plan ${SANDBOX_PLANS.failingPayment} into Upgrades to make, and execute.
   ${address('plan-upgrade')}

Ctrl-C stops both. \`npm start -- --reset\` starts afresh.`;
}

async function main(): Promise<void> {
	const interruption = new AbortController();
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
		process.on(signal, () => interruption.abort());
	}
	try {
		const settings = readSettings();
		if (settings.help) console.log(help);
		else await run(settings, interruption.signal);
	} catch (error) {
		if (interruption.signal.aborted) return;
		console.error(`\n${describeError(error)}`);
		process.exitCode = 1;
	}
}

await main();
