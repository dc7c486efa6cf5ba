import { afterAll, beforeEach, expect, it } from 'vitest';
import type { ModelRequest, ModelResponse, ModelRetry } from '../../../src/core/model.ts';
import { createModelRegistry } from '../../../src/models/registry.ts';
import { GeminiDouble } from '../../support/gemini-double.ts';
import type { GeminiReply } from '../../support/gemini-replies.ts';

const double = await GeminiDouble.start();
const env = { GOOGLE_API_KEY: 'test-key-1', GOOGLE_GEMINI_BASE_URL: double.url };
const model = createModelRegistry({ env, retry: { attempts: 1 } }).resolve('gemini-2.5-flash');

beforeEach(() => double.forget());
afterAll(() => double.close());

const request = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  model: 'gemini-2.5-flash',
  contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
  config: {},
  stream: false,
  ...more,
});

const collect = (asked: ModelRequest, signal = new AbortController().signal): Promise<ModelResponse[]> =>
  Array.fromAsync(model.generate(asked, signal));

function ask(reply: GeminiReply | string, more: Partial<ModelRequest> = {}): Promise<ModelResponse[]> {
  double.answer(() => reply);
  return collect(request(more));
}

const stream = (reply: GeminiReply | string): Promise<ModelResponse[]> => ask(reply, { stream: true });

it('sends the request as the real API takes it, and answers with one whole response', async () => {
  const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

  const responses = await ask('hello', {
    contents: [
      {
        role: 'user',
        parts: [{ text: 'look' }, { inlineData: { mimeType: 'image/png', data: 'aGk=', displayName: 'x.png' } }],
      },
      { role: 'model', parts: [{ functionCall: { id: 'adk-1', name: 'weather', args: { city: 'Rome' } } }] },
      { role: 'user', parts: [{ functionResponse: { id: 'adk-1', name: 'weather', response: { sky: 'blue' } } }] },
    ],
    config: {
      systemInstruction: 'Be brief.',
      temperature: 0,
      maxOutputTokens: 9,
      labels: { a: 'b' },
      thinkingConfig: { includeThoughts: true },
      tools: [
        { functionDeclarations: [{ name: 'weather', description: 'tells', parameters }] },
        { googleSearch: {} },
        {
          functionDeclarations: [{ name: 'now', description: 'time', parameters: { type: 'object', properties: {} } }],
        },
      ],
    },
  });

  expect(responses).toEqual([
    {
      content: { role: 'model', parts: [{ text: 'hello' }] },
      finishReason: 'STOP',
      usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 5, totalTokenCount: 12 },
      modelVersion: 'gemini-2.5-flash',
    },
  ]);
  expect(double.requests[0]).toMatchObject({ faults: [], headers: { 'x-goog-api-key': 'test-key-1' } });
  expect(double.bodies[0]).toEqual({
    contents: [
      { role: 'user', parts: [{ text: 'look' }, { inlineData: { mimeType: 'image/png', data: 'aGk=' } }] },
      { role: 'model', parts: [{ functionCall: { name: 'weather', args: { city: 'Rome' } } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'weather', response: { sky: 'blue' } } }] },
    ],
    systemInstruction: { role: 'user', parts: [{ text: 'Be brief.' }] },
    tools: [
      {
        functionDeclarations: [
          {
            name: 'weather',
            description: 'tells',
            parameters: { type: 'OBJECT', properties: { city: { type: 'STRING' } }, required: ['city'] },
          },
          { name: 'now', description: 'time' },
        ],
      },
      { googleSearch: {} },
    ],
    generationConfig: { temperature: 0, maxOutputTokens: 9, thinkingConfig: { includeThoughts: true } },
  });
});

it('streams partial responses and one whole with everything in it', async () => {
  const responses = await stream({
    thought: 'hm',
    chunks: ['Hel', 'lo'],
    calls: [
      { name: 'f', args: { a: 1 } },
      { name: 'g', id: 'x1' },
    ],
    thoughtSignature: 'c2ln',
    candidate: { groundingMetadata: { webSearchQueries: ['q'] } },
  });

  expect(responses.map((one) => one.partial)).toEqual([true, true, true, true, undefined]);
  const [f, g] = responses[3]?.content?.parts ?? [];
  expect(f?.functionCall?.id).toMatch(/^adk-/);
  expect(g?.functionCall?.id).toBe('x1');
  expect(responses.at(-1)).toEqual({
    content: { role: 'model', parts: [{ text: 'hm', thought: true }, { text: 'Hello' }, f, g] },
    finishReason: 'STOP',
    groundingMetadata: { webSearchQueries: ['q'] },
    usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 5, totalTokenCount: 12 },
    modelVersion: 'gemini-2.5-flash',
  });
  expect(f).toMatchObject({ thoughtSignature: 'c2ln', functionCall: { name: 'f', args: { a: 1 } } });
});

it.each([true, false])(
  'takes a text that was cut off for an answer that says so, and for no error (streaming %s)',
  async (streaming) => {
    const responses = await ask(
      { chunks: ['Hel', 'lö'], finishReason: 'MAX_TOKENS', finishMessage: 'too "long" – ü' },
      { stream: streaming },
    );

    expect(responses.at(-1)).toMatchObject({
      finishReason: 'MAX_TOKENS',
    });
    expect(responses.at(-1)).not.toHaveProperty('errorCode');
    expect(
      responses
        .at(-1)
        ?.content?.parts.map((part) => part.text)
        .join(''),
    ).toBe('Hellö');
  },
);

it.each([true, false])('explains an answer without content or candidates (streaming %s)', async (streaming) => {
  const ends: GeminiReply[] = [
    { withoutContent: true, finishReason: 'SAFETY' },
    { blockReason: 'PROHIBITED_CONTENT', blockMessage: 'never' },
    { withoutCandidates: true },
    { withoutContent: true },
  ];
  const seen: ModelResponse[] = [];
  for (const reply of ends) seen.push(...(await ask(reply, { stream: streaming })));

  expect(seen.map(({ errorCode, errorMessage }) => [errorCode, errorMessage])).toEqual([
    ['SAFETY', 'The model ended its answer early: SAFETY'],
    ['PROHIBITED_CONTENT', 'never'],
    ['UNKNOWN_ERROR', 'The model gave no answer and no reason for it'],
    [undefined, undefined],
  ]);
});

it.each([
  [400, 'CLIENT_ERROR'],
  [401, 'AUTH_ERROR'],
  [403, 'AUTH_ERROR'],
  [404, 'CLIENT_ERROR'],
  [429, 'RATE_LIMITED'],
  [500, 'SERVER_ERROR'],
  [503, 'SERVER_ERROR'],
  [504, 'TIMEOUT_ERROR'],
])('turns status %i into %s without a second try, and hides the key', async (status, category) => {
  const failure = ask({ failure: { status, message: 'no test-key-1 AIzaSyA1234567890' } });

  await expect(failure).rejects.toMatchObject({
    category,
    status,
    message: expect.stringMatching(/: no \[redacted\] \[redacted\]$/),
  });
  expect(double.requests).toHaveLength(1);
});

it.each([true, false])('reads when to come back (streaming %s)', async (streaming) => {
  await expect(ask({ failure: { status: 429, retryAfter: 3 } }, { stream: streaming })).rejects.toMatchObject({
    retryAfter: 3,
    providerCode: 'RESOURCE_EXHAUSTED',
  });
});

it.each(['cut', 'reset', 'half-close'] as const)('fails when a stream breaks: %s', async (broken) => {
  double.answer(() => ({ chunks: ['a', 'b'], broken }));
  const seen: ModelResponse[] = [];
  const reading = (async () => {
    for await (const one of model.generate(request({ stream: true }), new AbortController().signal)) seen.push(one);
  })();

  await expect(reading).rejects.toMatchObject({ category: 'NETWORK_ERROR' });
  expect(seen.every((one) => one.partial)).toBe(true);
  expect(double.requests).toHaveLength(1);
});

it('fails when a stream ends with an error, or before it begins', async () => {
  await expect(stream({ chunks: ['a'], failureInStream: { status: 503, message: 'busy' } })).rejects.toMatchObject({
    category: 'SERVER_ERROR',
    message: expect.stringContaining(': busy'),
  });
  await expect(stream({ brokenAtOnce: 'reset' })).rejects.toMatchObject({ category: 'NETWORK_ERROR' });
});

it.each([true, false])('hangs up when the signal aborts (streaming %s)', async (streaming) => {
  double.answer(() => ({ chunks: ['a', 'b'], ...(streaming ? { broken: 'stall' } : { brokenAtOnce: 'stall' }) }));
  const leaving = new AbortController();
  const call = collect(request({ stream: streaming }), leaving.signal);
  await double.received(1);

  leaving.abort(new Error('left'));

  await expect(call).rejects.toThrow('left');
  await double.requests[0]?.closed;
  expect(double.requests[0]?.clientLeft).toBe(true);
});

it('hangs up when nobody reads on', async () => {
  double.answer(() => ({ chunks: ['a', 'b'], broken: 'stall' }));
  for await (const one of model.generate(request({ stream: true }), new AbortController().signal)) {
    expect(one.partial).toBe(true);
    break;
  }

  await double.requests[0]?.closed;
  expect(double.requests[0]?.clientLeft).toBe(true);
});

it('answers once when the provider is busy twice, and tells of both waits', async () => {
  const busy: GeminiReply = { failure: { status: 429, retryAfter: 0.01 } };
  double.answerInTurn(busy, busy, { chunks: ['Hel', 'lo'] });
  const patient = createModelRegistry({ env }).resolve('gemini-2.5-flash');
  const waits: ModelRetry[] = [];
  const asked = request({ stream: true, onRetry: (retry) => waits.push(retry) });

  const responses = await Array.fromAsync(patient.generate(asked, new AbortController().signal));

  expect(responses.map((one) => [one.partial, one.content?.parts[0]?.text])).toEqual([
    [true, 'Hel'],
    [true, 'lo'],
    [undefined, 'Hello'],
  ]);
  expect(waits.map(({ attempt, error }) => [attempt, error.category])).toEqual([
    [1, 'RATE_LIMITED'],
    [2, 'RATE_LIMITED'],
  ]);
  expect(double.requests).toHaveLength(3);
});

it('says what is missing when there is no key', async () => {
  const bare = createModelRegistry({ env: {} }).resolve('gemini-2.5-flash');

  await expect(Array.fromAsync(bare.generate(request(), new AbortController().signal))).rejects.toMatchObject({
    category: 'AUTH_ERROR',
    message: expect.stringContaining('GOOGLE_API_KEY'),
  });
});
