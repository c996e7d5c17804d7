import { setTimeout as sleep } from 'node:timers/promises';
import type { INodeTypeDescription, IRunData } from 'n8n-workflow';
import {
	EditorApi,
	type CredentialDefinition,
	type Execution,
	type Workflow,
	type WorkflowDefinition,
	unfinished,
} from '../../host/rest.mts';

/** Headers that identify a signed-in user. */
export type Session = Record<'Cookie' | 'browser-id', string>;

/** Actions of a person in n8n's editor that `npm start` does not need. */
export class TestApi extends EditorApi {
	/** For a TestApi in another process: n8n refuses more than a few logins a minute. */
	get session(): Session {
		const { headers } = this.http.defaults;
		return { Cookie: String(headers.common.Cookie), 'browser-id': String(headers['browser-id']) };
	}

	/** Replaces {@link signIn}. */
	resume(session: Session): void {
		Object.assign(this.http.defaults.headers, session);
		this.http.defaults.headers.common.Cookie = session.Cookie;
	}

	/** Tests a credential as the Test button does. n8n 1 tests saved ones only. */
	async testCredential(credential: CredentialDefinition) {
		const { id } = await this.createCredential(credential);
		const credentials = { id, ...credential };
		type Result = { status: 'OK' | 'Error'; message: string };
		return await this.send<Result>('POST', '/rest/credentials/test', { credentials });
	}

	async updateWorkflow(id: string, change: Partial<WorkflowDefinition>): Promise<Workflow> {
		const { versionId } = await this.readWorkflow(id);
		return await this.send('PATCH', `/rest/workflows/${id}`, { ...change, versionId });
	}

	async deactivateWorkflow(id: string): Promise<void> {
		await this.setActive(id, false);
	}

	/**
	 * Runs a saved workflow up to a node, as Execute Step does, and returns the execution's ID.
	 * @param runData of earlier runs: their nodes are not run again
	 */
	async executeStep(id: string, nodeName: string, runData: IRunData = {}): Promise<string> {
		const workflowData = await this.readWorkflow(id);
		const destinationNode = { nodeName, mode: 'inclusive' };
		const body = { workflowData, runData, destinationNode, dirtyNodeNames: [] };
		const path = `/rest/workflows/${id}/run`;
		return (await this.send<{ executionId: string }>('POST', path, body)).executionId;
	}

	/** @param loadWorkflow Whether to retry with the workflow as it is saved now */
	async retryExecution(id: string, loadWorkflow = false): Promise<void> {
		await this.send('POST', `/rest/executions/${id}/retry`, { loadWorkflow });
	}

	/**
	 * Waits until a workflow has at least so many executions (at most 100), which have all ended, and returns them, the oldest
	 * first. n8n 1 responds to a webhook before its execution exists.
	 */
	async waitForExecutions(workflowId: string, count: number): Promise<Execution[]> {
		const deadline = Date.now() + 300_000;
		for (;;) {
			const found = (await this.listExecutions(workflowId)).reverse();
			const states = found.map(({ status }) => status);
			// Each is read once, after its end: reading 42 of them in turns kept n8n busy.
			if (found.length >= count && !states.some((status) => unfinished.includes(status))) {
				return await Promise.all(found.map(async ({ id }) => await this.waitForExecution(id)));
			}
			if (Date.now() > deadline) throw new Error(`Of ${count} executions, found: ${states.join()}`);
			await sleep(150);
		}
	}

	/** Installs the newest version of a community package from the npm registry. n8n loads it at once. */
	async installPackage(name: string): Promise<{ installedNodes: Array<{ type: string }> }> {
		return await this.send('POST', '/rest/community-packages', { name });
	}

	/**
	 * Returns the types that n8n offers, or none while n8n writes the file that it serves: a response can then be cut short, or
	 * longer than announced.
	 */
	async readTypes(kind: 'nodes' | 'credentials'): Promise<INodeTypeDescription[]> {
		const types: unknown = await this.sendPlain('GET', `/types/${kind}.json`).catch(() => []);
		return Array.isArray(types) ? types : [];
	}
}
