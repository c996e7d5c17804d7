import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { installHost, installPackage, packPackage } from '../../host/install.mts';
import { startN8n, type N8n } from '../../host/n8n.mts';
import { reportTo } from '../../host/progress.mts';
import { owner, withoutAssistant } from '../../host/workspace.mts';
import { SANDBOX_KEYS } from '../../sandbox/seed.mts';
import prepareRun from '../support/prepareRun.mts';
import { TestApi, type Session } from '../support/testApi.mts';

/** The n8n that all tests of a run share, except those that kill, restart or measure one. */
export interface SharedN8n {
	/** Without a slash at the end. */
	url: string;
	userFolder: string;
	session: Session;
	/** User folder of a new n8n with the package and the owner. */
	template: string;
}

/** Name of the n8n to test, which main.mts sets: its folder is `host/n8n-<name>`. */
export const testedHost = process.env.TESTED_N8N ?? '2';

/** The tests expect of the newest n8n what they expect of n8n 2. */
export const tested = testedHost === 'newest' ? '2' : testedHost;

export const webhookSecret = 'webhook_secret_of_the_tests';

export const environment = {
	// Secrets could leak into the log at any level.
	N8N_LOG_LEVEL: 'debug',
	NO_COLOR: '1',
	// Without a pool, the default of n8n 1, it writes the state of an execution before its data.
	DB_SQLITE_POOL_SIZE: '3',
};

let n8n: N8n;

/** Runs before the host tests: starts the n8n, and describes it in `process.env.SHARED_N8N`. */
export default async function startShared(): Promise<void> {
	await prepareRun();
	const run = process.env.RUN_FOLDER!;
	const [userFolder, template] = [join(run, 'n8n'), join(run, 'template')];
	// The tarball that a release uploads (main.mts), or a new one.
	await installPackage(userFolder, process.env.TESTED_PACKAGE ?? (await packPackage(run)));
	n8n = await startN8n({
		host: await installHost(testedHost, reportTo(process.stderr)),
		userFolder,
		env: {
			...environment,
			...(tested === '2' && withoutAssistant),
			// The races of claims.test.mts need some side by side. Without a limit, each would run in an isolate of its own.
			N8N_CONCURRENCY_PRODUCTION_LIMIT: '20',
			// docs/scaling.md recommends this. An n8n of a test's own has n8n's default.
			N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE: 'true',
		},
	});
	const api = new TestApi(n8n.url);
	await api.signIn(owner);
	await copyUserFolder(userFolder, template);
	const shared: SharedN8n = { url: n8n.url, userFolder, session: api.session, template };
	process.env.SHARED_N8N = JSON.stringify(shared);
}

/** Copies the key, the packages and the database of a running n8n. */
async function copyUserFolder(from: string, to: string): Promise<void> {
	for (const part of ['config', 'nodes']) {
		await cp(join(from, '.n8n', part), join(to, '.n8n', part), { recursive: true });
	}
	// n8n may be writing to it.
	const live = new DatabaseSync(join(from, '.n8n', 'database.sqlite'), { readOnly: true });
	await backup(live, join(to, '.n8n', 'database.sqlite'));
	live.close();
}

/**
 * Runs after the host tests.
 *
 * @throws {Error} if a secret is in n8n's log, which is complete by now
 */
export async function stopShared(): Promise<void> {
	await n8n.stop();
	const log = n8n.log();
	if (!log.includes('n8n ready')) throw new Error('n8n has logged nothing');
	if ([SANDBOX_KEYS.live, webhookSecret].some((secret) => log.includes(secret))) {
		throw new Error("n8n's log has the private key or the webhook secret");
	}
}
