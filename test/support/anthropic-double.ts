import type { Anthropic } from '@anthropic-ai/sdk';
import type { DoubleReply } from './http-double.ts';

/** The JSON body of a call of the Messages API. */
export type AnthropicBody = Anthropic.Messages.MessageCreateParams & Record<string, unknown>;

interface Answer {
  /** Blocks as they are; texts and inputs are streamed in two pieces. */
  readonly content?: readonly Record<string, unknown>[];
  readonly stop?: string | null;
  readonly stopDetails?: unknown;
  readonly usage?: Record<string, unknown>;
}

const envelope = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-test' };

/** A complete message. */
export function message({ content = [], stop = 'end_turn', stopDetails = null, usage = {} }: Answer): DoubleReply {
  return {
    json: {
      ...envelope,
      content,
      stop_reason: stop,
      stop_details: stopDetails,
      usage: { input_tokens: 7, output_tokens: 5, ...usage },
    },
  };
}

type Event = { readonly type: string } & Record<string, unknown>;

export const frame = (event: Event): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

const halves = (text: string): string[] => {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== '');
};

function blockEvents(block: Record<string, unknown>, index: number): Event[] {
  const delta = (fields: object): Event => ({ type: 'content_block_delta', index, delta: fields });
  const start = (fields: object): Event => ({
    type: 'content_block_start',
    index,
    content_block: { ...block, ...fields },
  });
  const stop = { type: 'content_block_stop', index };
  if (block['type'] === 'text') {
    return [
      start({ text: '' }),
      ...halves(block['text'] as string).map((text) => delta({ type: 'text_delta', text })),
      stop,
    ];
  }
  if (block['type'] === 'thinking') {
    return [
      start({ thinking: '', signature: '' }),
      ...halves(block['thinking'] as string).map((thinking) => delta({ type: 'thinking_delta', thinking })),
      delta({ type: 'signature_delta', signature: block['signature'] }),
      stop,
    ];
  }
  if (block['type'] !== 'tool_use') return [start({}), stop];
  const input = typeof block['input'] === 'string' ? block['input'] : JSON.stringify(block['input']);
  const pieces = halves(input).map((partial_json) => delta({ type: 'input_json_delta', partial_json }));
  return [start({ input: {} }), ...pieces, stop];
}

/** The same as a stream, with a ping in it. */
export function messageStream(answer: Answer): DoubleReply {
  const { content = [], stop = 'end_turn', stopDetails = null, usage = {} } = answer;
  const events: Event[] = [
    {
      type: 'message_start',
      message: { ...envelope, content: [], stop_reason: null, usage: { input_tokens: 7, output_tokens: 1 } },
    },
    { type: 'ping' },
    ...content.flatMap(blockEvents),
    {
      type: 'message_delta',
      delta: { stop_reason: stop, stop_details: stopDetails },
      usage: { output_tokens: 5, input_tokens: null, ...usage },
    },
    { type: 'message_stop' },
  ];
  return { sse: events.map(frame) };
}

/** A refusal as Anthropic writes it. */
export const failure = (
  status: number,
  type: string,
  text: string,
  headers: Record<string, string> = {},
): DoubleReply => ({
  status,
  headers,
  json: { type: 'error', error: { type, message: text } },
});
