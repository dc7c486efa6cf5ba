import type { OpenAI } from 'openai';
import type { DoubleReply } from './http-double.ts';

export type ChatBody = OpenAI.Chat.ChatCompletionCreateParams & Record<string, unknown>;
export type ResponsesBody = OpenAI.Responses.ResponseCreateParams & Record<string, unknown>;

interface Spoken {
  readonly reasoning_content?: string;
  readonly content?: string | null;
  readonly refusal?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
    readonly extra_content?: unknown;
  }[];
}

interface ChatAnswer {
  readonly message?: Spoken;
  readonly finish?: string | null;
  readonly usage?: Record<string, unknown>;
  readonly logprobs?: readonly number[];
}

const envelope = { id: 'chatcmpl-1', created: 1, model: 'gpt-test' };
const counts = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };

/** A complete chat completion. */
export function completion({ message = {}, finish = 'stop', usage = {}, logprobs }: ChatAnswer): DoubleReply {
  const tokens = logprobs && { content: logprobs.map((logprob) => ({ token: 't', logprob })) };
  const choice = {
    index: 0,
    message: { role: 'assistant', content: null, ...message },
    finish_reason: finish,
    logprobs: tokens,
  };
  return { json: { ...envelope, object: 'chat.completion', choices: [choice], usage: { ...counts, ...usage } } };
}

export const data = (body: unknown): string => `data: ${JSON.stringify(body)}\n\n`;

const halves = (text: string): string[] => {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== '');
};

function deltas({ reasoning_content, content, refusal, tool_calls = [] }: Spoken): object[] {
  return [
    { role: 'assistant', content: '' },
    ...halves(reasoning_content ?? '').map((text) => ({ reasoning_content: text })),
    ...halves(content ?? '').map((text) => ({ content: text })),
    ...halves(refusal ?? '').map((text) => ({ refusal: text })),
    ...tool_calls.flatMap(({ function: called, ...call }, index) => [
      { tool_calls: [{ index, type: 'function', ...call, function: { name: called.name, arguments: '' } }] },
      ...halves(called.arguments).map((text) => ({ tool_calls: [{ index, function: { arguments: text } }] })),
    ]),
  ];
}

/** The same as a stream; the counts come last, in a chunk without choices. */
export function completionStream({ message = {}, finish = 'stop', usage = {} }: ChatAnswer): DoubleReply {
  const chunk = (fields: object): string => data({ ...envelope, object: 'chat.completion.chunk', ...fields });
  const choice = (delta: object, finish_reason: string | null = null): string =>
    chunk({ choices: [{ index: 0, delta, finish_reason }], usage: null });
  return {
    sse: [
      ...deltas(message).map((delta) => choice(delta)),
      choice({}, finish),
      chunk({ choices: [], usage: { ...counts, ...usage } }),
      'data: [DONE]\n\n',
    ],
  };
}

interface ResponsesAnswer {
  readonly output?: readonly Record<string, unknown>[];
  readonly status?: string;
  readonly incomplete?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

function answerOf({ output = [], status = 'completed', incomplete, error }: ResponsesAnswer): object {
  return {
    id: 'resp_1',
    object: 'response',
    model: 'gpt-test',
    status,
    output,
    error: error ?? null,
    incomplete_details: incomplete ? { reason: incomplete } : null,
    usage: {
      input_tokens: 7,
      input_tokens_details: { cached_tokens: 3 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 2 },
      total_tokens: 12,
    },
  };
}

/** A complete response of the responses API. */
export const responses = (answer: ResponsesAnswer): DoubleReply => ({ json: answerOf(answer) });

export const typed = (event: { readonly type: string } & Record<string, unknown>): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

function itemEvents(item: Record<string, unknown>, output_index: number): string[] {
  const where = { item_id: item['id'] ?? 'x', output_index };
  const added = typed({
    type: 'response.output_item.added',
    output_index,
    item: { ...item, content: [], summary: [] },
  });
  const done = typed({ type: 'response.output_item.done', output_index, item });
  const texts = ((item['content'] ?? []) as { type: string; text?: string; refusal?: string }[]).flatMap((one) => {
    const type = one.type === 'refusal' ? 'response.refusal.delta' : 'response.output_text.delta';
    return halves(one.text ?? one.refusal ?? '').map((delta) => typed({ type, ...where, content_index: 0, delta }));
  });
  const thoughts = ((item['summary'] ?? []) as { text: string }[]).flatMap(({ text }, summary_index) =>
    halves(text).map((delta) =>
      typed({ type: 'response.reasoning_summary_text.delta', ...where, summary_index, delta }),
    ),
  );
  return [added, ...thoughts, ...texts, done];
}

/** The same as a stream. */
export function responsesStream(answer: ResponsesAnswer): DoubleReply {
  const response = answerOf(answer);
  return {
    sse: [
      typed({ type: 'response.created', response: answerOf({ status: 'in_progress' }) }),
      ...(answer.output ?? []).flatMap(itemEvents),
      typed({ type: `response.${answer.status ?? 'completed'}`, response }),
    ],
  };
}

/** A refusal as OpenAI writes it. */
export const failure = (
  status: number,
  error: { readonly message: string; readonly type?: string; readonly code?: string | null },
  headers: Record<string, string> = {},
): DoubleReply => ({ status, headers, json: { error: { param: null, code: null, ...error } } });
