import type { CreateMessageRequestParams, CreateMessageResult } from '@modelcontextprotocol/client';
import type { JsonObject } from '../../base/json.ts';
import type { GenerateConfig } from '../../core/model.ts';
import type { ToolContext } from '../../core/runtime.ts';
import { type Content, type Part, textOf } from '../../schemas/content.ts';

type Message = CreateMessageRequestParams['messages'][number];
type Block = Extract<Message['content'], { type: string }>;

/** Answers a server's sampling request with the agent's model. The model sees only what the server sends. */
export async function askAgentModel(
  params: CreateMessageRequestParams,
  ctx: ToolContext,
): Promise<CreateMessageResult> {
  const { agent } = ctx.run;
  if (!agent.askModel) throw new Error(`Agent "${agent.name}" has no model to ask`);
  const { maxTokens, temperature, stopSequences, systemPrompt } = params;
  const config: GenerateConfig = {
    maxOutputTokens: maxTokens,
    ...(temperature !== undefined && { temperature }),
    ...(stopSequences && { stopSequences }),
    ...(systemPrompt !== undefined && { systemInstruction: systemPrompt }),
  };
  const question = { contents: params.messages.map(contentFrom), config };
  const { model, response } = await agent.askModel(question, ctx.run, ctx.signal);
  if (response.errorCode !== undefined)
    throw new Error(`The model failed: ${response.errorMessage ?? response.errorCode}`);
  const stopReason = response.finishReason === 'MAX_TOKENS' ? 'maxTokens' : 'endTurn';
  return { role: 'assistant', content: { type: 'text', text: textOf(response.content) }, model, stopReason };
}

function contentFrom({ role, content }: Message): Content {
  const blocks = Array.isArray(content) ? content : [content];
  return { role: role === 'assistant' ? 'model' : 'user', parts: blocks.map(partFrom) };
}

function partFrom(block: Block): Part {
  if (block.type === 'text') return { text: block.text };
  if (block.type === 'image' || block.type === 'audio') {
    return { inlineData: { mimeType: block.mimeType, data: block.data } };
  }
  throw new Error('Tools cannot be used in this exchange');
}

/** A sampling request as the user sees it: its texts, with a mark for other content. */
export function samplingTexts({ messages, systemPrompt, maxTokens }: CreateMessageRequestParams): JsonObject {
  const shown = messages.map(({ role, content }) => {
    const blocks = Array.isArray(content) ? content : [content];
    return { role, text: blocks.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n') };
  });
  return { messages: shown, ...(systemPrompt !== undefined && { systemPrompt }), maxTokens };
}
