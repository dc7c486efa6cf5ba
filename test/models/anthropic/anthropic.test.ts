import { afterAll, beforeEach, expect, it } from 'vitest';
import type { ModelRequest, ModelResponse } from '../../../src/core/model.ts';
import { createModelRegistry } from '../../../src/models/registry.ts';
import { type AnthropicBody, failure, frame, message, messageStream } from '../../support/anthropic-double.ts';
import { HttpDouble, type DoubleReply } from '../../support/http-double.ts';

const double = await HttpDouble.start<AnthropicBody>();
const env = { ANTHROPIC_API_KEY: 'test-key-1', ANTHROPIC_BASE_URL: double.url };
const registry = createModelRegistry({ env, retry: { attempts: 1 } });
const model = registry.resolve('anthropic/claude-sonnet-4-5');

beforeEach(() => double.forget());
afterAll(() => double.close());

const request = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  model: 'anthropic/claude-sonnet-4-5',
  contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
  config: {},
  stream: false,
  ...more,
});

const collect = (asked: ModelRequest, signal = new AbortController().signal): Promise<ModelResponse[]> =>
  Array.fromAsync(model.generate(asked, signal));

function ask(reply: DoubleReply, more: Partial<ModelRequest> = {}): Promise<ModelResponse[]> {
  double.answer(() => reply);
  return collect(request(more));
}

const blocks = [
  { type: 'thinking', thinking: 'let me see', signature: 'c2ln' },
  { type: 'redacted_thinking', data: 'ZGF0YQ' },
  { type: 'text', text: 'Hello' },
  { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: [1, 'x'] } },
  { type: 'tool_use', id: 'toolu_2', name: 'g', input: {} },
];
const parts = [
  { text: 'let me see', thought: true, thoughtSignature: 'c2ln' },
  { text: '', thought: true, thoughtSignature: 'ZGF0YQ', partMetadata: { redactedThinking: true } },
  { text: 'Hello' },
  { functionCall: { id: 'toolu_1', name: 'f', args: { a: [1, 'x'] } } },
  { functionCall: { id: 'toolu_2', name: 'g', args: {} } },
];
const whole = {
  content: { role: 'model', parts },
  finishReason: 'STOP',
  usageMetadata: {
    promptTokenCount: 12,
    candidatesTokenCount: 3,
    totalTokenCount: 17,
    thoughtsTokenCount: 2,
    cachedContentTokenCount: 4,
  },
  modelVersion: 'claude-test',
};
const usage = {
  cache_read_input_tokens: 4,
  cache_creation_input_tokens: 1,
  output_tokens_details: { thinking_tokens: 2 },
};

it('answers with one whole response: text, thinking, calls and counts', async () => {
  expect(await ask(message({ content: blocks, stop: 'tool_use', usage }))).toEqual([whole]);
  expect(double.requests[0]).toMatchObject({
    path: '/v1/messages',
    headers: { authorization: 'Bearer test-key-1', 'x-api-key': 'test-key-1', 'anthropic-version': expect.any(String) },
    body: { model: 'claude-sonnet-4-5', messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }] },
  });
});

it('streams partial responses and the same whole', async () => {
  const responses = await ask(messageStream({ content: blocks, stop: 'tool_use', usage }), { stream: true });

  expect(responses.at(-1)).toEqual(whole);
  expect(responses.slice(0, -1).map((one) => [one.partial, one.content?.parts[0]])).toEqual([
    [true, { text: 'let m', thought: true }],
    [true, { text: 'e see', thought: true }],
    [true, { text: 'Hel' }],
    [true, { text: 'lo' }],
    [true, parts[3]],
    [true, parts[4]],
  ]);
  expect(double.requests[0]?.body.stream).toBe(true);
});

it('sends back thinking as it came', async () => {
  await ask(message({}), {
    contents: [
      { role: 'user', parts: [{ text: 'hi' }] },
      { role: 'model', parts: [...parts, { text: 'unsigned', thought: true }] },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'toolu_2', name: 'g', response: { error: 'no' } } },
          { functionResponse: { id: 'toolu_1', name: 'f', response: { result: 'ok' } } },
        ],
      },
    ],
  });

  expect(double.requests[0]?.body.messages).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'hi' }] },
    { role: 'assistant', content: blocks },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: 'ok' },
        { type: 'tool_result', tool_use_id: 'toolu_2', content: '{"error":"no"}', is_error: true },
      ],
    },
  ]);
});

it.each([
  ['max_tokens', 'MAX_TOKENS', /limit of its answer/],
  ['model_context_window_exceeded', 'MAX_TOKENS', /limit of the model/],
  ['refusal', 'SAFETY', /^because$/],
  ['something_new', 'OTHER', /something_new/],
])('gives the end %s as %s, streamed or not', async (stop, code, text) => {
  const answer = {
    content: [],
    stop,
    stopDetails: { type: 'refusal', explanation: 'because' },
  };
  const [plain] = await ask(message(answer));
  const streamed = await ask(messageStream(answer), { stream: true });

  expect(plain).toMatchObject({ finishReason: code, errorCode: code, errorMessage: expect.stringMatching(text) });
  expect(streamed.at(-1)).toEqual(plain);
});

it.each(['max_tokens', 'something_new'])('takes a text that ended with %s for an answer and no error', async (stop) => {
  const [answer] = await ask(message({ content: [{ type: 'text', text: 'a' }], stop }));

  expect(answer).toMatchObject({ content: { parts: [{ text: 'a' }] }, finishReason: expect.stringMatching(/./) });
  expect(answer).not.toHaveProperty('errorCode');
});

it('leaves out a call that is cut off, and says why', async () => {
  const content = [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: '{"a":' }];

  const cut = await ask(messageStream({ content, stop: 'max_tokens' }), { stream: true });
  const broken = await ask(messageStream({ content, stop: 'tool_use' }), { stream: true });

  expect(cut).toMatchObject([{ errorCode: 'MAX_TOKENS' }]);
  expect(broken).toMatchObject([{ errorCode: 'MALFORMED_FUNCTION_CALL' }]);
  expect(cut[0]?.content ?? broken[0]?.content).toBeUndefined();
});

it.each([
  [400, 'invalid_request_error', 'CLIENT_ERROR'],
  [401, 'authentication_error', 'AUTH_ERROR'],
  [403, 'permission_error', 'AUTH_ERROR'],
  [404, 'not_found_error', 'CLIENT_ERROR'],
  [413, 'request_too_large', 'CLIENT_ERROR'],
  [429, 'rate_limit_error', 'RATE_LIMITED'],
  [500, 'api_error', 'SERVER_ERROR'],
  [504, 'timeout_error', 'TIMEOUT_ERROR'],
  [529, 'overloaded_error', 'SERVER_ERROR'],
])('turns status %i (%s) into %s, streamed or not, and hides the key', async (status, type, category) => {
  for (const stream of [true, false]) {
    await expect(ask(failure(status, type, 'no test-key-1', { 'retry-after': '2' }), { stream })).rejects.toMatchObject(
      {
        category,
        status,
        providerCode: type,
        retryAfter: 2,
        message: expect.stringMatching(/: no \[redacted\]$/),
      },
    );
  }
  expect(double.requests).toHaveLength(2);
});

it.each(['end', 'reset', 'half-close'] as const)('fails when a stream breaks: %s', async (broken) => {
  const reply = { ...messageStream({ content: [{ type: 'text', text: 'Hello' }] }), broken };

  await expect(ask(reply, { stream: true })).rejects.toMatchObject({ category: 'NETWORK_ERROR' });
  await expect(ask({ broken: 'reset' })).rejects.toMatchObject({ category: 'NETWORK_ERROR' });
});

it('fails when a stream carries an error, or something that is not JSON', async () => {
  const { sse = [] } = messageStream({ content: [{ type: 'text', text: 'Hello' }] });
  const error = { type: 'error', error: { type: 'overloaded_error', message: 'busy' } };

  await expect(ask({ sse: [...sse.slice(0, 4), frame(error)] }, { stream: true })).rejects.toMatchObject({
    category: 'SERVER_ERROR',
    providerCode: 'overloaded_error',
    message: expect.stringContaining(': busy'),
  });
  await expect(
    ask({ sse: [...sse.slice(0, 4), 'event: content_block_delta\ndata: {"type"\n\n'] }, { stream: true }),
  ).rejects.toMatchObject({ category: 'NETWORK_ERROR' });
});

it.each([true, false])('hangs up when the signal aborts (streaming %s)', async (stream) => {
  double.answer(() => ({ ...(stream ? messageStream({}) : {}), broken: 'stall' }));
  const leaving = new AbortController();
  const call = collect(request({ stream }), leaving.signal);
  await double.received(1);

  leaving.abort(new Error('left'));

  await expect(call).rejects.toThrow('left');
  await double.requests[0]?.closed;
  expect(double.requests[0]?.clientLeft).toBe(true);
});

it('says what is missing when there is no key', async () => {
  const bare = createModelRegistry({ env: {} });

  expect(bare.isConfigured('claude-sonnet-4-5')).toBe(false);
  expect(registry.isConfigured('claude-sonnet-4-5')).toBe(true);
  await expect(
    Array.fromAsync(bare.resolve('claude-sonnet-4-5').generate(request(), new AbortController().signal)),
  ).rejects.toMatchObject({ category: 'AUTH_ERROR', message: expect.stringContaining('ANTHROPIC_API_KEY') });
});
