import type { Sandbox } from '../sandbox/server.mts';
import type { EditorApi } from './rest.mts';
import type { ExampleWorkflow } from './workspace.mts';

const triggerType = 'n8n-nodes-resume-management.resumeManagementTrigger';

/** An n8n that receives events. */
export interface EventRoute {
	/** API of the signed-in owner. */
	api: EditorApi;
	/** Address of n8n, without a slash at the end. */
	editorUrl: string;
	webhooks: Sandbox['webhooks'];
	/** Webhook secret of the credential. */
	secret: string;
}

/**
 * Activates the examples with the trigger, and registers their production URLs with the sandbox. Existing registrations stay,
 * because a user may have changed their signatures on the web pages.
 *
 * @returns a sentence for each example that n8n refused to activate, because a user changed it
 */
export async function connectExamples(
	route: EventRoute,
	examples: ExampleWorkflow[],
): Promise<string[]> {
	const problems: string[] = [];
	for (const { id, name } of examples) {
		const { active, nodes } = await route.api.readWorkflow(id);
		const trigger = nodes.find(({ type }) => type === triggerType);
		if (trigger === undefined) continue;
		try {
			if (!active) await route.api.activateWorkflow(id);
			register(route, `/webhook/${trigger.webhookId}/webhook`);
		} catch (error) {
			const reason = error instanceof Error ? error.message : String(error);
			problems.push(`The example "${name}" receives no events: ${reason}`);
		}
	}
	return problems;
}

/** Registers a production URL, and removes its registrations with another port, which belong to an earlier start. */
function register({ editorUrl, webhooks, secret }: EventRoute, path: string): void {
	const url = editorUrl + path;
	const ofWorkflow = webhooks.list().filter((webhook) => new URL(webhook.url).pathname === path);
	for (const webhook of ofWorkflow) {
		if (webhook.url !== url) webhooks.remove(webhook.id);
	}
	if (ofWorkflow.some((webhook) => webhook.url === url)) return;
	webhooks.register({ url, style: 'header', secret, headerName: 'X-Webhook-Secret' });
}
