import type { OpenAI } from 'openai';
import type { ModelResponse } from '../core/model.ts';
import { chatAnswer } from './openai-chat-response.ts';

type Chunk = OpenAI.Chat.ChatCompletionChunk;

/** Collects a streamed answer. */
export interface ChatStream {
  /** The partial response of a chunk; undefined when it shows nothing. */
  add(chunk: Chunk): ModelResponse | undefined;
  /** The whole response; undefined when the stream broke off before the model was done. */
  end(): ModelResponse | undefined;
}

export function chatStream(): ChatStream {
  const answer = chatAnswer();
  let reason: string | undefined;
  let envelope: Pick<Chunk, 'usage' | 'model'> = { model: '' };
  return {
    add(chunk) {
      envelope = { model: chunk.model || envelope.model, usage: chunk.usage ?? envelope.usage };
      const [choice] = chunk.choices ?? [];
      if (!choice) return undefined;
      reason = choice.finish_reason ?? reason;
      const { delta } = choice;
      for (const call of delta?.tool_calls ?? []) answer.call(call);
      answer.logprobs(choice.logprobs?.content);
      const parts = answer.speak(delta ?? {});
      return parts.length > 0 ? { content: { role: 'model', parts }, partial: true } : undefined;
    },
    end: () => (reason === undefined ? undefined : answer.whole(reason, envelope)),
  };
}
