import { afterAll, beforeEach, expect, it } from 'vitest';
import type { ModelRequest, ModelResponse } from '../../../src/core/model.ts';
import { createModelRegistry } from '../../../src/models/registry.ts';
import { HttpDouble, type DoubleReply } from '../../support/http-double.ts';
import { type ChatBody, completion, completionStream, data, failure } from '../../support/openai-double.ts';

const double = await HttpDouble.start<ChatBody>();
const env = { OPENAI_API_KEY: 'test-key-1', OPENAI_BASE_URL: `${double.url}/v1`, OLLAMA_HOST: double.url };
const registry = createModelRegistry({ env, retry: { attempts: 1 } });

beforeEach(() => double.forget());
afterAll(() => double.close());

const request = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  model: 'openai/gpt-4.1',
  contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
  config: {},
  stream: false,
  ...more,
});

const collect = (asked: ModelRequest, signal = new AbortController().signal): Promise<ModelResponse[]> =>
  Array.fromAsync(registry.resolve(asked.model).generate(asked, signal));

function ask(reply: DoubleReply, more: Partial<ModelRequest> = {}): Promise<ModelResponse[]> {
  double.answer(() => reply);
  return collect(request(more));
}

const call = (
  id: string,
  name: string,
  json: string,
): { id: string; type: string; function: { name: string; arguments: string } } => ({
  id,
  type: 'function',
  function: { name, arguments: json },
});
const message = {
  reasoning_content: 'hmmm',
  content: 'Hello',
  tool_calls: [
    { ...call('call_1', 'f', '{"a":[1,"x"]}'), extra_content: { google: { thought_signature: 'c2ln' } } },
    call('call_2', 'g', ''),
  ],
};
const usage = {
  completion_tokens_details: { reasoning_tokens: 2 },
  prompt_tokens_details: { cached_tokens: 4 },
};
const whole = {
  content: {
    role: 'model',
    parts: [
      { text: 'hmmm', thought: true },
      { text: 'Hello' },
      { functionCall: { id: 'call_1', name: 'f', args: { a: [1, 'x'] } }, thoughtSignature: 'c2ln' },
      { functionCall: { id: 'call_2', name: 'g', args: {} } },
    ],
  },
  finishReason: 'STOP',
  usageMetadata: {
    promptTokenCount: 7,
    candidatesTokenCount: 3,
    totalTokenCount: 12,
    thoughtsTokenCount: 2,
    cachedContentTokenCount: 4,
  },
  modelVersion: 'gpt-test',
};

it('answers with one whole response: text, thoughts, calls and counts', async () => {
  expect(await ask(completion({ message, finish: 'tool_calls', usage }))).toEqual([whole]);
  expect(double.requests[0]).toMatchObject({
    path: '/v1/chat/completions',
    headers: { authorization: 'Bearer test-key-1' },
    body: { model: 'gpt-4.1', messages: [{ role: 'user', content: 'hi' }] },
  });
});

it('streams partial responses and the same whole', async () => {
  const responses = await ask(completionStream({ message, finish: 'tool_calls', usage }), { stream: true });

  expect(responses.slice(0, -1).map((one) => [one.partial, one.content?.parts])).toEqual([
    [true, [{ text: 'hm', thought: true }]],
    [true, [{ text: 'mm', thought: true }]],
    [true, [{ text: 'Hel' }]],
    [true, [{ text: 'lo' }]],
  ]);
  expect(responses.at(-1)).toEqual(whole);
  expect(double.requests[0]?.body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
});

it('tells calls apart by id where a server gives every one the same index', async () => {
  const chunk = (delta: object, finish_reason: string | null = null): string =>
    data({ choices: [{ index: 0, delta, finish_reason }] });
  const piece = (id: string | undefined, name: string, json: string): object => ({
    tool_calls: [{ index: 0, ...(id ? { id } : {}), function: { name, arguments: json } }],
  });

  const responses = await ask(
    {
      sse: [
        chunk(piece('a', 'f', '{"x"')),
        chunk(piece(undefined, '', ':1}')),
        chunk(piece('b', 'g', '{}')),
        chunk({}, 'stop'),
      ],
    },
    { stream: true },
  );

  expect(responses.at(-1)?.content?.parts).toEqual([
    { functionCall: { id: 'a', name: 'f', args: { x: 1 } } },
    { functionCall: { id: 'b', name: 'g', args: {} } },
  ]);
});

it.each([
  [{ message: { content: '' }, finish: 'length' }, 'MAX_TOKENS', /limit/],
  [{ message: { content: '' }, finish: 'content_filter' }, 'SAFETY', /filter/],
  [{ message: { content: '' }, finish: 'something_new' }, 'OTHER', /something_new/],
  [{ message: { refusal: 'I will not' }, finish: 'stop' }, 'SAFETY', /^I will not$/],
  [{ message: { tool_calls: [call('1', 'f', '{"a"')] }, finish: 'tool_calls' }, 'MALFORMED_FUNCTION_CALL', /JSON/],
  [{ message: { tool_calls: [call('1', 'f', '{"a"')] }, finish: 'length' }, 'MAX_TOKENS', /limit/],
])('gives the end of %j as %s, streamed or not', async (answer, code, text) => {
  const [plain] = await ask(completion(answer));
  const streamed = await ask(completionStream(answer), { stream: true });

  expect(plain).toMatchObject({ finishReason: code, errorCode: code, errorMessage: expect.stringMatching(text) });
  expect(streamed.at(-1)).toEqual(plain);
});

it.each(['length', 'content_filter', 'something_new'])(
  'takes a text that ended with %s for an answer',
  async (finish) => {
    const [answer] = await ask(completion({ message: { content: 'a' }, finish }));

    expect(answer).toMatchObject({ content: { parts: [{ text: 'a' }] }, finishReason: expect.stringMatching(/./) });
    expect(answer).not.toHaveProperty('errorCode');
  },
);

it('averages the probabilities of tokens', async () => {
  expect(await ask(completion({ message: { content: 'a' }, logprobs: [-1, -2] }))).toMatchObject([
    { avgLogprobs: -1.5 },
  ]);
});

it.each([
  [400, { message: 'no test-key-1', code: 'context_length_exceeded' }, 'CLIENT_ERROR'],
  [401, { message: 'no test-key-1', code: 'invalid_api_key' }, 'AUTH_ERROR'],
  [404, { message: 'no test-key-1', code: 'model_not_found' }, 'CLIENT_ERROR'],
  [429, { message: 'no test-key-1', type: 'requests', code: 'rate_limit_exceeded' }, 'RATE_LIMITED'],
  [500, { message: 'no test-key-1', type: 'server_error' }, 'SERVER_ERROR'],
  [503, { message: 'no test-key-1', type: 'server_error' }, 'SERVER_ERROR'],
])('turns status %i into an error, streamed or not, and hides the key', async (status, error, category) => {
  for (const stream of [true, false]) {
    await expect(ask(failure(status, error, { 'retry-after': '2' }), { stream })).rejects.toMatchObject({
      category,
      status,
      providerCode: 'code' in error ? error.code : error.type,
      retryAfter: 2,
      message: expect.stringMatching(/: no \[redacted\]$/),
    });
  }
  expect(double.requests).toHaveLength(2);
});

it('fails when a stream breaks, ends too early, or carries an error', async () => {
  const begun = completionStream({ message: { content: 'Hello' } });
  const { sse = [] } = begun;

  for (const broken of ['end', 'reset', 'half-close'] as const) {
    await expect(ask({ ...begun, broken }, { stream: true })).rejects.toMatchObject({ category: 'NETWORK_ERROR' });
  }
  await expect(ask({ sse: [sse[0] ?? '', 'data: {"choices"\n\n'] }, { stream: true })).rejects.toMatchObject({
    category: 'NETWORK_ERROR',
  });
  await expect(
    ask({ sse: [sse[0] ?? '', data({ error: { message: 'busy', type: 'server_error' } })] }, { stream: true }),
  ).rejects.toMatchObject({ category: 'SERVER_ERROR', message: expect.stringContaining(': busy') });
  await expect(ask({ broken: 'reset' })).rejects.toMatchObject({ category: 'NETWORK_ERROR' });
});

it.each([true, false])('hangs up when the signal aborts (streaming %s)', async (stream) => {
  double.answer(() => ({ ...(stream ? completionStream({}) : {}), broken: 'stall' }));
  const leaving = new AbortController();
  const asked = collect(request({ stream }), leaving.signal);
  await double.received(1);

  leaving.abort(new Error('left'));

  await expect(asked).rejects.toThrow('left');
  await double.requests[0]?.closed;
  expect(double.requests[0]?.clientLeft).toBe(true);
});

it('asks a local server by its address alone', async () => {
  const model = 'ollama/qwen3:8b';

  expect(registry.isConfigured(model)).toBe(true);
  expect(createModelRegistry({ env: {} }).isConfigured(model)).toBe(false);
  await ask(completion({}), { model, config: { maxOutputTokens: 9 } });

  expect(double.requests[0]).toMatchObject({
    path: '/v1/chat/completions',
    body: { model: 'qwen3:8b', max_tokens: 9 },
  });
});

it('says what is missing when there is no key', async () => {
  const bare = createModelRegistry({ env: {} }).resolve('gpt-4.1');

  await expect(Array.fromAsync(bare.generate(request(), new AbortController().signal))).rejects.toMatchObject({
    category: 'AUTH_ERROR',
    message: expect.stringContaining('OPENAI_API_KEY'),
  });
});
