import type { AddressInfo } from 'node:net';
import fastify from 'fastify';

export interface ToolCall {
	name: string;
	arguments: Record<string, unknown>;
}

/** Response of the model: tools to call, its final text, or the status of an HTTP error. */
export type Turn = ToolCall[] | string | number;

interface OfferedTool {
	name: string;
	description: string;
	parameters: { required?: string[] };
}

export type ScriptedModel = Awaited<ReturnType<typeof startScriptedModel>>;

interface Body {
	model: string;
	messages: Array<{ role: string; content: string | null }>;
	tools?: Array<{ function: OfferedTool }>;
}

/**
 * Starts a chat model with scripted responses on the loopback address. It has the part of the chat completions API that n8n's
 * OpenAI Chat Model uses (https://platform.openai.com/docs/api-reference/chat).
 */
export async function startScriptedModel() {
	const requests: Array<{ tools: OfferedTool[]; messages: Body['messages'] }> = [];
	let turns: Turn[] = [];
	let calls = 0;
	const app = fastify({ forceCloseConnections: true });
	app.post<{ Body: Body }>('/v1/chat/completions', async ({ body }, reply) => {
		const { messages, model, tools = [] } = body;
		requests.push({ messages, tools: tools.map((tool) => tool.function) });
		const turn = turns.shift() ?? 'The script has ended.';
		if (typeof turn === 'number') return await reply.code(turn).send({});
		const toolCalls = (typeof turn === 'string' ? [] : turn).map((call) => ({
			id: `call_${++calls}`,
			type: 'function',
			function: { name: call.name, arguments: JSON.stringify(call.arguments) },
		}));
		const isText = typeof turn === 'string';
		const said = isText ? { content: turn } : { content: null, tool_calls: toolCalls };
		const message = { role: 'assistant', ...said };
		const choices = [{ index: 0, message, finish_reason: isText ? 'stop' : 'tool_calls' }];
		const usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
		return { id: 'scripted', object: 'chat.completion', created: 0, model, choices, usage };
	});
	await app.listen({ host: '127.0.0.1', port: 0 });
	return {
		baseUrl: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/v1`,
		requests,
		toolResults: () =>
			requests.at(-1)!.messages.flatMap(({ role, content }) => (role === 'tool' ? [content!] : [])),
		script: (next: Turn[]) => void (turns = [...next]),
		close: async () => await app.close(),
	};
}
