import type { Model, ModelRequest, ModelResponse } from '../../src/core/model.ts';
import type { FunctionCall, Part } from '../../src/schemas/content.ts';

export type Reply =
  | ModelResponse
  | readonly ModelResponse[]
  | ((request: ModelRequest) => ModelResponse | readonly ModelResponse[]);

/** A model that gives its replies in order and keeps the requests it got. When they run out it says "done". */
export interface ReplyModel extends Model {
  readonly requests: ModelRequest[];
}

export function replyModel(...replies: readonly Reply[]): ReplyModel {
  const requests: ModelRequest[] = [];
  return {
    name: 'reply-model',
    requests,
    async *generate(request) {
      const reply = replies[requests.length] ?? text('done');
      requests.push({ ...request, contents: [...request.contents] });
      const made = typeof reply === 'function' ? reply(request) : reply;
      for (const response of [made].flat()) yield response;
    },
  };
}

export const text = (value: string): ModelResponse => parts({ text: value });
export const parts = (...values: readonly Part[]): ModelResponse => ({
  content: { role: 'model', parts: [...values] },
  finishReason: 'STOP',
});
export const partial = (value: string): ModelResponse => ({
  partial: true,
  content: { role: 'model', parts: [{ text: value }] },
});
export const call = (name: string, args: FunctionCall['args'] = {}, id?: string): Part => ({
  functionCall: { name, args, ...(id !== undefined && { id }) },
});
export const calls = (...values: readonly Part[]): ModelResponse => parts(...values);

/** A model that throws at its first call. */
export const failingModel = (error: unknown): Model => ({
  name: 'failing-model',
  // oxlint-disable-next-line require-yield
  async *generate() {
    throw error;
  },
});
