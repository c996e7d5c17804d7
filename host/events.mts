import type { Sandbox } from '../sandbox/server.mts';
import type { EditorApi } from './rest.mts';
import type { ExampleWorkflow } from './workspace.mts';

const triggerType = 'n8n-nodes-resume-management.resumeManagementTrigger';

/** Who is told of events, and where. */
export interface EventRoute {
	/** Signed in as the owner. */
	api: EditorApi;
	/** n8n's address, without a slash at the end. */
	editorUrl: string;
	webhooks: Sandbox['webhooks'];
	/** The webhook secret of the credential. */
	secret: string;
}

/**
 * Lets a section that is saved in the sandbox start the examples that begin with the trigger: each is
 * activated, and its production URL registered. What is registered already stays as it is, a
 * signature that was chosen in the console too.
 *
 * @returns a sentence for each example that n8n refused to activate, because it was changed
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

/** An address with another port is that of an earlier start, and reaches nobody. */
function register({ editorUrl, webhooks, secret }: EventRoute, path: string): void {
	const url = editorUrl + path;
	const ofWorkflow = webhooks.list().filter((webhook) => new URL(webhook.url).pathname === path);
	for (const webhook of ofWorkflow) {
		if (webhook.url !== url) webhooks.remove(webhook.id);
	}
	if (ofWorkflow.some((webhook) => webhook.url === url)) return;
	webhooks.register({ url, style: 'header', secret, headerName: 'X-Webhook-Secret' });
}
