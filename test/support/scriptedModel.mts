import type { AddressInfo } from 'node:net';
import fastify from 'fastify';

/** A tool that the model wants called, by the name that the request gave it. */
export interface ToolCall {
	name: string;
	arguments: Record<string, unknown>;
}

/** What the model says to a request: tools to call, or its last words. */
type Turn = ToolCall[] | string;

interface OfferedTool {
	name: string;
	description: string;
	/** JSON Schema of the arguments. */
	parameters: { properties?: Record<string, { description?: string }>; required?: string[] };
}

/** A request as a model sees it. */
interface ModelRequest {
	tools: OfferedTool[];
	messages: Array<{ role: string; content: string | null; tool_call_id?: string }>;
}

export type ScriptedModel = Awaited<ReturnType<typeof startScriptedModel>>;

interface Body {
	model: string;
	messages: ModelRequest['messages'];
	tools?: Array<{ function: OfferedTool }>;
}

/**
 * A chat model that says what a test wants, on the loopback address, behind the chat completions API
 * as far as n8n's OpenAI Chat Model uses it (https://platform.openai.com/docs/api-reference/chat).
 */
export async function startScriptedModel() {
	const requests: ModelRequest[] = [];
	let turns: Turn[] = [];
	let calls = 0;
	const app = fastify({ forceCloseConnections: true });
	app.post<{ Body: Body }>('/v1/chat/completions', async ({ body }) => {
		const { messages, model, tools = [] } = body;
		requests.push({ messages, tools: tools.map((tool) => tool.function) });
		const turn = turns.shift() ?? 'The script has ended.';
		const said = typeof turn === 'string';
		const message = said
			? { role: 'assistant', content: turn }
			: {
					role: 'assistant',
					content: null,
					tool_calls: turn.map(({ name, arguments: values }) => ({
						id: `call_${++calls}`,
						type: 'function',
						function: { name, arguments: JSON.stringify(values) },
					})),
				};
		const choice = { index: 0, message, finish_reason: said ? 'stop' : 'tool_calls' };
		const usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
		return {
			id: 'scripted',
			object: 'chat.completion',
			created: 0,
			model,
			choices: [choice],
			usage,
		};
	});
	await app.listen({ host: '127.0.0.1', port: 0 });
	return {
		/** What a credential for OpenAI takes as its base URL. */
		baseUrl: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/v1`,
		/** All so far, oldest first. */
		requests,
		/** What it will say, in turn. */
		script: (said: Turn[]) => void (turns = said),
		close: async () => await app.close(),
	};
}
