import { afterAll, describe, expect, it } from 'vitest';
import { failure as claudeFailure, messageStream } from '../../support/anthropic-double.ts';
import type { DoubleReply } from '../../support/http-double.ts';
import type { LiveFrame } from '../../support/live-client.ts';
import { completionStream, failure as openaiFailure, responsesStream } from '../../support/openai-double.ts';
import type { Key } from '../live/bed.ts';
import { openProviderBed } from '../live/provider-bed.ts';

const breaks = ['end', 'reset', 'half-close'] as const;

/** A provider as its double plays it: an answer, one that breaks off, and refusals. */
interface Provider {
  readonly model: string;
  readonly whole: DoubleReply;
  readonly refusal: (status: number, headers?: Record<string, string>) => DoubleReply;
}

const message = [{ type: 'output_text', text: 'Hello', annotations: [] }];
const openaiRefusal = (status: number, headers?: Record<string, string>): DoubleReply =>
  openaiFailure(status, { message: 'Not now.', type: 'requests' }, headers);

const providers: Readonly<Record<string, Provider>> = {
  claude: {
    model: 'claude-sonnet-4-5',
    whole: messageStream({ content: [{ type: 'text', text: 'Hello' }] }),
    refusal: (status, headers) => claudeFailure(status, 'api_error', 'Not now.', headers),
  },
  chat: {
    model: 'openai/gpt-4.1',
    whole: completionStream({ message: { content: 'Hello' } }),
    refusal: openaiRefusal,
  },
  responses: {
    model: 'openai-responses/gpt-5.2',
    whole: responsesStream({ output: [{ type: 'message', id: 'm-1', role: 'assistant', content: message }] }),
    refusal: openaiRefusal,
  },
};

const models = Object.entries(providers).map(([name, { model }]) => [name, model]);
const bed = await openProviderBed({ ...Object.fromEntries(models), gemini: 'gemini-2.5-flash' });
const { double, gemini } = bed;
afterAll(() => bed.close());

/** What a streamed run shows, and what its session keeps. */
async function run(app: string): Promise<{ key: Key; frames: LiveFrame[]; stored: LiveFrame[] }> {
  const key = await bed.session(app);
  const answer = await fetch(`${bed.url}/run_sse`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...key, newMessage: { role: 'user', parts: [{ text: 'hi' }] }, streaming: true }),
  });
  const lines = (await answer.text()).split('\n').filter((line) => line.startsWith('data: '));
  const frames = lines.map((line) => JSON.parse(line.slice('data: '.length)) as LiveFrame);
  return { key, frames, stored: await bed.stored(key) };
}

/** How often calls of the session's model were tried again, and why, as its trace tells. */
async function retries({ appName, sessionId }: Key): Promise<{ count: number; reasons: string[] }> {
  const { body } = await bed.server.fetchJson(`/dev/apps/${appName}/debug/trace/session/${sessionId}`);
  const call = (body as { name: string; attributes: Record<string, unknown> }[]).find(
    ({ name }) => name === 'call_llm',
  );
  const { attributes = {} } = call ?? {};
  return {
    count: (attributes['agent_server.model.retries'] as number | undefined) ?? 0,
    reasons: (attributes['agent_server.model.retry_reasons'] as string[] | undefined) ?? [],
  };
}

const texts = (frames: readonly LiveFrame[]): (string | undefined)[] =>
  frames.map(({ content }) => content?.parts.map(({ text }) => text).join(''));

describe.each(Object.entries(providers))('%s', (app, { whole, refusal }) => {
  it('gives one answer after two refusals, each waited out', async () => {
    double.forget();
    double.answerInTurn(refusal(429, { 'retry-after': '1' }), refusal(429, { 'retry-after': '1' }), whole);

    const { key, frames, stored } = await run(app);

    expect(texts(frames)).toEqual(['Hel', 'lo', 'Hello']);
    expect(texts(stored)).toEqual(['hi', 'Hello']);
    expect(double.requests).toHaveLength(3);
    const { count, reasons } = await retries(key);
    expect(count).toBe(2);
    for (const reason of reasons) expect(reason).toMatch(/next after 1\d\d\d ms/);
  });

  it('does not ask again with a key that is refused', async () => {
    double.forget();
    double.answer(() => refusal(401));

    const { frames, stored } = await run(app);

    expect(double.requests).toHaveLength(1);
    expect(stored).toHaveLength(2);
    expect(frames[0]?.customMetadata).toEqual({ errorCategory: 'AUTH_ERROR' });
  });

  it.each(breaks)('ends a stream that breaks (%s) with what was said and an event with a code', async (broken) => {
    double.forget();
    double.answer(() => ({ ...whole, sse: (whole.sse ?? []).slice(0, -2), broken }));

    const { frames, stored } = await run(app);

    expect(frames.find(({ errorCode, id }) => errorCode !== undefined && id !== undefined)).toBeDefined();
    expect(stored.at(-1)?.errorCode).toMatch(/\S/);
  });
});

it('gives one answer of Gemini after two refusals, each waited out', async () => {
  const refusal = { failure: { status: 429, message: 'Not now.', retryAfter: 1 } };
  gemini.forget();
  gemini.answerInTurn(refusal, refusal, { chunks: ['Hel', 'lo'] });

  const { key, frames } = await run('gemini');

  expect(texts(frames)).toEqual(['Hel', 'lo', 'Hello']);
  expect(gemini.requests).toHaveLength(3);
  const { count, reasons } = await retries(key);
  expect(count).toBe(2);
  for (const reason of reasons) expect(reason).toMatch(/next after 1\d\d\d ms/);
});

it('does not ask Gemini again with a key that is refused', async () => {
  gemini.forget();
  gemini.answer(() => ({ failure: { status: 401, message: 'Request had invalid authentication credentials.' } }));

  const { frames } = await run('gemini');

  expect(gemini.requests).toHaveLength(1);
  expect(frames[0]?.customMetadata).toEqual({ errorCategory: 'AUTH_ERROR' });
});
