import { afterAll, beforeEach, expect, it } from 'vitest';
import type { ModelRequest, ModelResponse } from '../../../src/core/model.ts';
import { createModelRegistry } from '../../../src/models/registry.ts';
import { HttpDouble, type DoubleReply } from '../../support/http-double.ts';
import { failure, responses, type ResponsesBody, responsesStream, typed } from '../../support/openai-double.ts';

const double = await HttpDouble.start<ResponsesBody>();
const env = { OPENAI_API_KEY: 'test-key-1', OPENAI_BASE_URL: `${double.url}/v1` };
const model = createModelRegistry({ env, retry: { attempts: 1 } }).resolve('openai-responses/gpt-5.2');

beforeEach(() => double.forget());
afterAll(() => double.close());

function ask(reply: DoubleReply, more: Partial<ModelRequest> = {}): Promise<ModelResponse[]> {
  double.answer(() => reply);
  const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];
  const request: ModelRequest = { model: model.name, contents, config: {}, stream: false, ...more };
  return Array.fromAsync(model.generate(request, new AbortController().signal));
}

const output = [
  {
    type: 'reasoning',
    id: 'rs_1',
    summary: [
      { type: 'summary_text', text: 'aa' },
      { type: 'summary_text', text: 'bb' },
    ],
    encrypted_content: 'c2VjcmV0',
  },
  {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    phase: 'commentary',
    content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
  },
  { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f', arguments: '{"a":1}' },
];
const parts = [
  { text: 'aa\n\nbb', thought: true, thoughtSignature: 'c2VjcmV0', partMetadata: { reasoningId: 'rs_1' } },
  { text: 'Hello', partMetadata: { phase: 'commentary' } },
  { functionCall: { id: 'call_1', name: 'f', args: { a: 1 } } },
];
const whole = {
  content: { role: 'model', parts },
  finishReason: 'STOP',
  usageMetadata: {
    promptTokenCount: 7,
    candidatesTokenCount: 3,
    totalTokenCount: 12,
    thoughtsTokenCount: 2,
    cachedContentTokenCount: 3,
  },
  modelVersion: 'gpt-test',
};

it('answers with one whole response, and keeps nothing at the provider', async () => {
  expect(await ask(responses({ output }))).toEqual([whole]);
  expect(double.requests[0]).toMatchObject({
    path: '/v1/responses',
    body: {
      model: 'gpt-5.2',
      store: false,
      include: ['reasoning.encrypted_content'],
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] }],
    },
  });
});

it('streams partial responses and the same whole', async () => {
  const seen = await ask(responsesStream({ output }), { stream: true });

  expect(seen.slice(0, -1).map((one) => [one.partial, one.content?.parts[0]])).toEqual([
    [true, { text: 'a', thought: true }],
    [true, { text: 'a', thought: true }],
    [true, { text: '\n\nb', thought: true }],
    [true, { text: 'b', thought: true }],
    [true, { text: 'Hel' }],
    [true, { text: 'lo' }],
  ]);
  expect(seen.at(-1)).toEqual(whole);
});

it('takes the items of a stream when its last event leaves them out', async () => {
  const { sse = [] } = responsesStream({ output });
  const last = typed({ type: 'response.completed', response: { status: 'completed', output: [] } });

  const seen = await ask({ sse: [...sse.slice(0, -1), last] }, { stream: true });

  expect(seen.at(-1)).toEqual({ content: { role: 'model', parts }, finishReason: 'STOP' });
});

it('sends back reasoning, calls and phases as they came', async () => {
  await ask(responses({}), {
    contents: [
      { role: 'user', parts: [{ text: 'hi' }] },
      { role: 'model', parts: [{ text: 'of another provider', thought: true, thoughtSignature: 'x' }, ...parts] },
      { role: 'user', parts: [{ functionResponse: { id: 'call_1', name: 'f', response: { result: 'ok' } } }] },
    ],
  });

  expect(double.requests[0]?.body.input).toEqual([
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
    {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'aa\n\nbb' }],
      encrypted_content: 'c2VjcmV0',
    },
    { type: 'message', role: 'assistant', content: 'Hello', phase: 'commentary' },
    { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{"a":1}' },
    { type: 'function_call_output', call_id: 'call_1', output: 'ok' },
  ]);
});

const refused = [
  { type: 'message', id: 'm', role: 'assistant', content: [{ type: 'refusal', refusal: 'I will not' }] },
];

it.each([
  [{ status: 'incomplete', incomplete: 'max_output_tokens' }, 'MAX_TOKENS', /limit/],
  [{ status: 'incomplete', incomplete: 'content_filter' }, 'SAFETY', /filter/],
  [{ status: 'incomplete', incomplete: 'something_new' }, 'OTHER', /something_new/],
  [{ output: refused }, 'SAFETY', /^I will not$/],
  [{ output: [{ ...output[2], arguments: '{"a"' }] }, 'MALFORMED_FUNCTION_CALL', /JSON/],
])('gives the end of %j as %s, streamed or not', async (answer, code, text) => {
  const [plain] = await ask(responses(answer));
  const streamed = await ask(responsesStream(answer), { stream: true });

  expect(plain).toMatchObject({ finishReason: code, errorCode: code, errorMessage: expect.stringMatching(text) });
  expect(streamed.at(-1)).toEqual(plain);
});

it('fails when the response did, when the stream carries an error, or when it ends too early', async () => {
  const failed = { status: 'failed', error: { code: 'rate_limit_exceeded', message: 'slow down' } };
  const expected = { category: 'RATE_LIMITED', message: expect.stringContaining(': slow down') };
  const { sse = [] } = responsesStream({ output });
  const error = { type: 'error', code: 'rate_limit_exceeded', message: 'slow down', param: null };

  await expect(ask(responses(failed))).rejects.toMatchObject(expected);
  await expect(ask(responsesStream(failed), { stream: true })).rejects.toMatchObject(expected);
  await expect(ask({ sse: [sse[0] ?? '', typed(error)] }, { stream: true })).rejects.toMatchObject(expected);
  await expect(ask({ sse: sse.slice(0, 4) }, { stream: true })).rejects.toMatchObject({ category: 'NETWORK_ERROR' });
  await expect(ask(failure(401, { message: 'no test-key-1' }))).rejects.toMatchObject({
    category: 'AUTH_ERROR',
    message: expect.stringMatching(/: no \[redacted\]$/),
  });
});

it('makes no thought of reasoning that is neither told nor has to be handed back', async () => {
  const reasoning = { type: 'reasoning', id: 'r', summary: [] };
  const said = { type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text: 'a' }] };

  const [plain] = await ask(responses({ output: [reasoning, said] }));
  const [handedBack] = await ask(responses({ output: [{ ...reasoning, encrypted_content: 'e' }, said] }));

  expect(plain?.content?.parts).toEqual([{ text: 'a' }]);
  expect(handedBack?.content?.parts).toEqual([
    { thought: true, thoughtSignature: 'e', partMetadata: { reasoningId: 'r' } },
    { text: 'a' },
  ]);
});
