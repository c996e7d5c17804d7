import { createWriteStream } from 'node:fs';
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { installHost, installPackage, packPackage } from '../../host/install.mts';
import { startN8n, type N8n } from '../../host/n8n.mts';
import { reportTo } from '../../host/progress.mts';
import { owner, withoutAssistant } from '../../host/workspace.mts';
import { SANDBOX_KEYS } from '../../sandbox/seed.mts';
import prepareRun from '../support/prepareRun.mts';
import { TestApi, type Session } from '../support/testApi.mts';

/** The n8n of a run, which all tests share that do not kill, restart or measure one. */
export interface SharedN8n {
	/** Without a slash at the end. */
	url: string;
	userFolder: string;
	/** Of its owner. */
	session: Session;
	/** The user folder of a new n8n, with the package and the owner. */
	template: string;
}

/** The n8n to test, by its folder `n8n-<name>` in `host/`; main.mts sets it. */
export const tested = process.env.TESTED_N8N ?? '2';

export const webhookSecret = 'webhook_secret_of_the_tests';

/** Of every n8n. */
export const environment = {
	// At its most talkative n8n shows what could leak into its log.
	N8N_LOG_LEVEL: 'debug',
	NO_COLOR: '1',
	// n8n 1 has no pool by default, and writes the state of an execution before its data then.
	DB_SQLITE_POOL_SIZE: '3',
};

let n8n: N8n;
const logFile = () => join(process.env.RUN_FOLDER!, 'n8n.log');

/** Before the host tests: starts the n8n, and tells of it in `process.env.SHARED_N8N`. */
export default async function startShared(): Promise<void> {
	await prepareRun();
	const run = process.env.RUN_FOLDER!;
	const [userFolder, template] = [join(run, 'n8n'), join(run, 'template')];
	await installPackage(userFolder, await packPackage(run));
	const log = createWriteStream(logFile());
	n8n = await startN8n({
		host: await installHost(tested, reportTo(process.stderr)),
		userFolder,
		env: {
			...environment,
			...(tested === '2' && withoutAssistant),
			// The races of claims.test.mts need some side by side. n8n runs all at once by default, each in
			// a sandbox of its own: the 500 of trigger.test.mts would take gigabytes.
			N8N_CONCURRENCY_PRODUCTION_LIMIT: '20',
			// As docs/scaling.md recommends; an n8n of a test's own has n8n's default.
			N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE: 'true',
		},
		onLine: (line) => log.write(`${line}\n`),
	});
	const api = new TestApi(n8n.url);
	await api.signIn(owner);
	await copyUserFolder(userFolder, template);
	const shared: SharedN8n = { url: n8n.url, userFolder, session: api.session, template };
	process.env.SHARED_N8N = JSON.stringify(shared);
}

/** What another n8n can start with: a running one may be writing to its database. */
async function copyUserFolder(from: string, to: string): Promise<void> {
	const database = join('.n8n', 'database.sqlite');
	// From its journal n8n would take the running one for one that has crashed, and wait.
	const left = [database, join('.n8n', 'crash.journal')].map((path) => join(from, path));
	const filter = (path: string) => !left.some((start) => path.startsWith(start));
	await cp(from, to, { recursive: true, filter });
	const live = new DatabaseSync(join(from, database), { readOnly: true });
	await backup(live, join(to, database));
	live.close();
}

/** After them. By now n8n has logged everything. @throws where a secret is in its log */
export async function stopShared(): Promise<void> {
	await n8n.stop();
	const log = await readFile(logFile(), 'utf8');
	if (!log.includes('n8n ready')) throw new Error('n8n has logged nothing');
	for (const secret of [SANDBOX_KEYS.live, webhookSecret]) {
		if (log.includes(secret)) throw new Error("n8n's log holds the private key or webhook secret");
	}
}
