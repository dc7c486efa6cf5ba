import { GoogleGenAI } from '@google/genai';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { GeminiDouble } from '../../support/gemini-double.ts';
import type { GeminiReply } from '../../support/gemini-replies.ts';

const double = await GeminiDouble.start();
const client = new GoogleGenAI({ apiKey: 'test-key', httpOptions: { baseUrl: double.url } });
const ask = { model: 'gemini-2.5-flash', contents: 'hi' };

beforeEach(() => double.forget());
afterAll(() => double.close());

async function streamed(reply: GeminiReply | string): Promise<(string | undefined)[]> {
  double.answer(() => reply);
  const chunks = await Array.fromAsync(await client.models.generateContentStream(ask));
  return chunks.map((chunk) => chunk.text);
}

it('answers a unary call with text, usage and a finish reason, and records what was sent', async () => {
  double.answer((request) => `you said ${request.body.contents?.[0]?.parts?.[0]?.text}`);

  const answer = await client.models.generateContent({ ...ask, config: { systemInstruction: 'be brief' } });

  expect(answer.text).toBe('you said hi');
  expect(answer.usageMetadata).toEqual({ promptTokenCount: 7, candidatesTokenCount: 5, totalTokenCount: 12 });
  expect(answer.candidates?.[0]?.finishReason).toBe('STOP');
  expect(answer.modelVersion).toBe('gemini-2.5-flash');
  expect(double.requests).toMatchObject([
    {
      model: 'gemini-2.5-flash',
      streaming: false,
      faults: [],
      clientLeft: false,
      headers: { 'x-goog-api-key': 'test-key' },
      body: {
        contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
        systemInstruction: { parts: [{ text: 'be brief' }] },
      },
    },
  ]);
});

it('streams thought, chunks and calls as frames of their own, and the finish reason in the last', async () => {
  double.answer(() => ({
    thought: 'hm',
    chunks: ['Hel', 'lo'],
    calls: [
      { name: 'f', args: { a: 1 } },
      { name: 'g', id: 'x1' },
    ],
    thoughtSignature: 'c2ln',
    delayMs: 1,
  }));

  const chunks = await Array.fromAsync(await client.models.generateContentStream(ask));

  expect(chunks.map((chunk) => chunk.candidates?.[0]?.content?.parts)).toEqual([
    [{ text: 'hm', thought: true }],
    [{ text: 'Hel' }],
    [{ text: 'lo' }],
    [
      { functionCall: { name: 'f', args: { a: 1 } }, thoughtSignature: 'c2ln' },
      { functionCall: { name: 'g', args: {}, id: 'x1' } },
    ],
  ]);
  expect(chunks.map((chunk) => chunk.candidates?.[0]?.finishReason)).toEqual([undefined, undefined, undefined, 'STOP']);
  expect(double.requests[0]).toMatchObject({ streaming: true, path: expect.stringContaining('alt=sse') });
});

it('joins chunks and calls into one unary answer', async () => {
  double.answer(() => ({ chunks: ['Hel', 'lo'], calls: [{ name: 'f' }] }));

  const answer = await client.models.generateContent(ask);

  expect(answer.candidates?.[0]?.content?.parts).toEqual([
    { text: 'Hel' },
    { text: 'lo' },
    { functionCall: { name: 'f', args: {} } },
  ]);
});

it('sends each call in its own frame when asked', async () => {
  double.answer(() => ({ calls: [{ name: 'f' }, { name: 'g' }], callPerFrame: true }));

  const chunks = await Array.fromAsync(await client.models.generateContentStream(ask));

  expect(chunks.map((chunk) => chunk.functionCalls?.map((call) => call.name))).toEqual([['f'], ['g']]);
});

it('answers without content, without candidates, or blocked', async () => {
  double.answerInTurn(
    { withoutContent: true, finishReason: 'SAFETY', finishMessage: 'no' },
    { withoutCandidates: true },
    { blockReason: 'PROHIBITED_CONTENT', blockMessage: 'never' },
  );

  const unsafe = await client.models.generateContent(ask);
  const none = await client.models.generateContent(ask);
  const blocked = await client.models.generateContent(ask);

  expect(unsafe.candidates).toEqual([{ index: 0, finishReason: 'SAFETY' }]);
  expect(none.candidates).toBeUndefined();
  expect(none.promptFeedback).toBeUndefined();
  expect(blocked.promptFeedback).toEqual({ blockReason: 'PROHIBITED_CONTENT', blockReasonMessage: 'never' });
});

it.each([400, 401, 403, 404, 429, 500, 503])('fails with status %i and the JSON of Google', async (status) => {
  double.answer(() => ({ failure: { status, message: `no ${status}` } }));

  await expect(client.models.generateContent(ask)).rejects.toMatchObject({
    name: 'ApiError',
    status,
    message: expect.stringContaining(`no ${status}`),
  });
});

it('says when to retry in the header and in the details', async () => {
  double.answer(() => ({ failure: { status: 429, retryAfter: 3 } }));

  const answer = await fetch(`${double.url}/v1beta/models/m:generateContent`, {
    method: 'POST',
    body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }),
  });

  expect(answer.headers.get('retry-after')).toBe('3');
  expect(await answer.json()).toMatchObject({
    error: { code: 429, status: 'RESOURCE_EXHAUSTED', details: [{ retryDelay: '3s' }] },
  });
});

it.each(['reset', 'half-close'] as const)(
  'breaks a begun stream by %s, which the client sees as a failure',
  async (broken) => {
    await expect(streamed({ chunks: ['a', 'b'], broken })).rejects.toThrow(/./);

    await double.requests[0]?.closed;
    expect(double.requests[0]?.clientLeft).toBe(false);
  },
);

it('cuts a stream inside a frame', async () => {
  await expect(streamed({ chunks: ['a', 'b'], broken: 'cut' })).rejects.toThrow('Incomplete JSON segment');
});

it('ends a stream with an error frame', async () => {
  await expect(streamed({ chunks: ['a'], failureInStream: { status: 503, message: 'busy' } })).rejects.toThrow('busy');
});

it.each([{ brokenAtOnce: 'stall' }, { chunks: ['a', 'b'], broken: 'stall' }] as const)(
  'notices a client that leaves a stalled answer: %j',
  async (reply) => {
    double.answer(() => reply);
    const leaving = new AbortController();
    const call = client.models
      .generateContentStream({ ...ask, config: { abortSignal: leaving.signal } })
      .then((stream) => Array.fromAsync(stream));
    await double.received(1);

    leaving.abort();

    await expect(call).rejects.toThrow(/abort/i);
    await double.requests[0]?.closed;
    expect(double.requests[0]?.clientLeft).toBe(true);
  },
);

it('holds an answer until the test lets it go', async () => {
  const gate = Promise.withResolvers<void>();
  double.answer(() => ({ text: 'late', after: gate.promise }));
  const call = client.models.generateContent(ask);
  await double.received(1);

  gate.resolve();

  expect((await call).text).toBe('late');
});

it('holds the rest of a stream until the test lets it go', async () => {
  const gate = Promise.withResolvers<void>();
  double.answer(() => ({ chunks: ['now', 'later'], pause: gate.promise }));
  const seen: (string | undefined)[] = [];

  for await (const chunk of await client.models.generateContentStream(ask)) {
    seen.push(chunk.text);
    gate.resolve();
  }

  expect(seen).toEqual(['now', 'later']);
});

it('fails a request beyond the replies it was given, and one to another path', async () => {
  double.answerInTurn('only');

  expect((await client.models.generateContent(ask)).text).toBe('only');
  await expect(client.models.generateContent(ask)).rejects.toMatchObject({ status: 500 });
  expect((await fetch(`${double.url}/v1/files`)).status).toBe(404);
});
