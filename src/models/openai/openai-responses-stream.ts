import type { OpenAI } from 'openai';
import type { ModelResponse } from '../../core/model.ts';
import type { Part } from '../../schemas/content.ts';
import { modelError } from '../model-errors.ts';
import { fromResponses } from './openai-responses-response.ts';

type Answer = OpenAI.Responses.Response;
type Item = OpenAI.Responses.ResponseOutputItem;
type StreamEvent = OpenAI.Responses.ResponseStreamEvent;

/** Collects a streamed response. */
export interface ResponsesStream {
  /** The chunk for an event; undefined when it has no content. Throws ModelError for an error event. */
  add(event: StreamEvent): ModelResponse | undefined;
  /** The complete response; undefined when the stream broke before the model had finished. */
  end(): ModelResponse | undefined;
}

export function responsesStream(): ResponsesStream {
  const items: Item[] = [];
  let answer: Answer | undefined;
  let thinking: string | undefined;
  const partial = (part: Part): ModelResponse => ({ content: { role: 'model', parts: [part] }, partial: true });

  return {
    add(event) {
      const { type } = event;
      if (type === 'response.output_text.delta' || type === 'response.refusal.delta') {
        return event.delta === '' ? undefined : partial({ text: event.delta });
      }
      if (type === 'response.reasoning_text.delta') return partial({ text: event.delta, thought: true });
      if (type === 'response.reasoning_summary_text.delta') {
        // Each paragraph of a summary comes as a separate part.
        const place = `${event.item_id}/${event.summary_index}`;
        const gap = thinking !== place && event.summary_index > 0 ? '\n\n' : '';
        thinking = place;
        return partial({ text: gap + event.delta, thought: true });
      }
      if (type === 'error') throw modelError({ message: event.message, providerCode: event.code ?? undefined });
      if (type === 'response.output_item.done') items.push(event.item);
      if (type === 'response.completed' || type === 'response.incomplete' || type === 'response.failed') {
        answer = event.response;
      }
      return undefined;
    },
    end() {
      if (!answer) return undefined;
      return fromResponses(answer, answer.output?.length ? answer.output : items);
    },
  };
}
