import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IRunData } from 'n8n-workflow';
import {
	EditorApi,
	type CredentialDefinition,
	type Execution,
	type Workflow,
	type WorkflowDefinition,
} from '../../host/rest.mts';

/** A community package, as n8n's page of them shows it. */
export interface CommunityPackage {
	packageName: string;
	installedVersion: string;
	/** A higher version that the registry has. */
	updateAvailable?: string;
	installedNodes: Array<{ type: string }>;
}

/** The headers by which n8n knows who is signed in. */
export type Session = Record<'Cookie' | 'browser-id', string>;

const pollMilliseconds = 150;

/** What a person does in n8n's editor beside what `npm start` needs. */
export class TestApi extends EditorApi {
	/** What a TestApi of another process needs: n8n refuses more than a few logins a minute. */
	get session(): Session {
		const { headers } = this.http.defaults;
		return { Cookie: String(headers.common.Cookie), 'browser-id': String(headers['browser-id']) };
	}

	/** In place of {@link signIn}. */
	resume(session: Session): void {
		Object.assign(this.http.defaults.headers, session);
		this.http.defaults.headers.common.Cookie = session.Cookie;
	}

	/** Presses the Test button for a credential, which n8n 1 tests only once it is saved. */
	async testCredential(credential: CredentialDefinition) {
		const { id } = await this.createCredential(credential);
		try {
			const credentials = { id, ...credential };
			type Result = { status: 'OK' | 'Error'; message: string };
			return await this.send<Result>('POST', '/rest/credentials/test', { credentials });
		} finally {
			await this.send('DELETE', `/rest/credentials/${id}`);
		}
	}

	async updateWorkflow(id: string, change: Partial<WorkflowDefinition>): Promise<Workflow> {
		const { versionId } = await this.readWorkflow(id);
		return await this.send('PATCH', `/rest/workflows/${id}`, { ...change, versionId });
	}

	/** Ends what {@link activateWorkflow} began. */
	async deactivateWorkflow(id: string): Promise<void> {
		await this.setActive(id, false);
	}

	/**
	 * Opens what the editor's window has to n8n. From then on the runs that this API starts report to
	 * it, as JSON, as do their nodes that write to the browser's console.
	 */
	async openWindow() {
		const { baseURL, headers } = this.http.defaults;
		const pushRef = randomUUID();
		const address = new URL(`/rest/push?pushRef=${pushRef}`, baseURL);
		address.protocol = 'ws:';
		const socket = new WebSocket(address, {
			headers: { Cookie: String(headers.common.Cookie), Origin: baseURL! },
		});
		const messages: string[] = [];
		socket.addEventListener('message', async ({ data }: { data: string | Blob }) => {
			messages.push(typeof data === 'string' ? data : await data.text());
		});
		await once(socket, 'open');
		headers.common['push-ref'] = pushRef;
		return { messages, close: () => socket.close() };
	}

	/**
	 * Runs a saved workflow up to a node, as Execute Step does; answers the execution's id.
	 * @param runData what earlier runs have left: of the nodes before it, those that it has are not run
	 */
	async executeStep(id: string, nodeName: string, runData: IRunData = {}): Promise<string> {
		const workflowData = await this.readWorkflow(id);
		const { executionId } = await this.send<{ executionId: string }>(
			'POST',
			`/rest/workflows/${id}/run`,
			{
				workflowData,
				runData,
				destinationNode: { nodeName, mode: 'inclusive' },
				dirtyNodeNames: [],
			},
		);
		return executionId;
	}

	/** Runs a failed execution again, as a person does from the list. */
	async retryExecution(id: string): Promise<void> {
		await this.send('POST', `/rest/executions/${id}/retry`, { loadWorkflow: false });
	}

	/**
	 * Waits until a workflow has at least so many executions, and for the end of each; answers all, the
	 * oldest first. n8n 1 answers a webhook before its execution is there.
	 */
	async waitForExecutions(
		workflowId: string,
		count: number,
		timeoutMilliseconds = 60_000,
	): Promise<Execution[]> {
		const deadline = Date.now() + timeoutMilliseconds;
		let found = await this.listExecutions(workflowId);
		while (found.length < count) {
			if (Date.now() > deadline) {
				throw new Error(`Workflow ${workflowId} has ${found.length} executions and not ${count}`);
			}
			await sleep(pollMilliseconds);
			found = await this.listExecutions(workflowId);
		}
		const executions: Execution[] = [];
		for (const { id } of found.toReversed()) executions.push(await this.waitForExecution(id));
		return executions;
	}

	/** Every workflow in which n8n 2 finds something that a later version removes, with n8n's name of it. */
	async migrationReport(version: string) {
		type Rules = { report: { workflowResults: Array<{ ruleId: string }> } };
		type Rule = { affectedWorkflows: Array<{ id: string }> };
		const path = '/rest/breaking-changes/report';
		const { report } = await this.send<Rules>('POST', `${path}/refresh?version=${version}`);
		const found: Array<{ ruleId: string; workflowId: string }> = [];
		for (const { ruleId } of report.workflowResults) {
			const { affectedWorkflows } = await this.send<Rule>('GET', `${path}/${ruleId}`);
			found.push(...affectedWorkflows.map(({ id }) => ({ ruleId, workflowId: id })));
		}
		return found;
	}

	async listPackages(): Promise<CommunityPackage[]> {
		return await this.send('GET', '/rest/community-packages');
	}

	/** Installs the newest version of a community package from the npm registry, which n8n loads at once. */
	async installPackage(name: string): Promise<CommunityPackage> {
		return await this.send('POST', '/rest/community-packages', { name });
	}

	/** Replaces an installed package by the newest version of it. */
	async updatePackage(name: string): Promise<CommunityPackage> {
		return await this.send('PATCH', '/rest/community-packages', { name });
	}

	async uninstallPackage(name: string): Promise<void> {
		await this.send('DELETE', `/rest/community-packages?name=${encodeURIComponent(name)}`);
	}
}
