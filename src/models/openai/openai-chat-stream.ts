import type { OpenAI } from 'openai';
import type { ModelResponse } from '../../core/model.ts';
import { chatResponse } from './openai-chat-response.ts';

type Chunk = OpenAI.Chat.ChatCompletionChunk;

/** Collects a streamed response. */
export interface ChatStream {
  /** The chunk to yield; undefined when it has no content. */
  add(chunk: Chunk): ModelResponse | undefined;
  /** The complete response; undefined when the stream broke before the model had finished. */
  end(): ModelResponse | undefined;
}

export function chatStream(): ChatStream {
  const collected = chatResponse();
  let reason: string | undefined;
  let envelope: Pick<Chunk, 'usage' | 'model'> = { model: '' };
  return {
    add(chunk) {
      envelope = { model: chunk.model || envelope.model, usage: chunk.usage ?? envelope.usage };
      const [choice] = chunk.choices ?? [];
      if (!choice) return undefined;
      reason = choice.finish_reason ?? reason;
      const { delta } = choice;
      for (const call of delta?.tool_calls ?? []) collected.call(call);
      collected.logprobs(choice.logprobs?.content);
      const parts = collected.addMessage(delta ?? {});
      return parts.length > 0 ? { content: { role: 'model', parts }, partial: true } : undefined;
    },
    end: () => (reason === undefined ? undefined : collected.whole(reason, envelope)),
  };
}
