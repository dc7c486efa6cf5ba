import { afterAll, afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ContextCacheConfig, Model, ModelRequest, ModelResponse } from '../../../src/core/model.ts';
import { createModelRegistry } from '../../../src/models/registry.ts';
import { type DoubleReply, HttpDouble } from '../../support/http-double.ts';

type Body = Record<string, unknown>;

const double = await HttpDouble.start<Body>();
const env = { GOOGLE_API_KEY: 'test-key-1', GOOGLE_GEMINI_BASE_URL: double.url };
const answered: DoubleReply = {
  json: {
    candidates: [{ content: { role: 'model', parts: [{ text: 'ok' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 5_000, candidatesTokenCount: 1, totalTokenCount: 5_001 },
  },
};
const parameters = { type: 'object', properties: { a: { type: 'string' } } };
const tools = [{ functionDeclarations: [{ name: 'f', description: 'd', parameters }] }];

let model: Model;
let made = 0;

beforeEach(() => {
  made = 0;
  double.forget();
  double.answer(({ method, path }) => {
    if (method === 'DELETE') return { json: {} };
    return path.endsWith('/cachedContents') ? { json: { name: `cachedContents/${(made += 1)}` } } : answered;
  });
  model = createModelRegistry({ env, retry: { attempts: 1 } }).resolve('gemini-2.5-flash');
});
afterEach(() => vi.useRealTimers());
afterAll(() => double.close());

async function turns(
  count: number,
  contextCache: ContextCacheConfig = {},
  systemInstruction = 'A long instruction.',
): Promise<ModelResponse[]> {
  const seen: ModelResponse[] = [];
  for (let turn = 1; turn <= count; turn += 1) {
    const contents = [{ role: 'user', parts: [{ text: `turn ${turn}` }] }];
    const config = { systemInstruction, tools, temperature: 0 };
    const request: ModelRequest = { model: model.name, contents, config, stream: false, contextCache };
    seen.push(...(await Array.fromAsync(model.generate(request, new AbortController().signal))));
  }
  return seen;
}

/** What was sent, in order: `make`, `drop 1`, `plain`, `with 1`. */
const log = (): string[] =>
  double.requests.map(({ method, path, body }) => {
    if (method === 'DELETE') return `drop ${path.split('/').at(-1)}`;
    if (path.endsWith('/cachedContents')) return 'make';
    const cached = body['cachedContent'] as string | undefined;
    return cached ? `with ${cached.split('/').at(-1)}` : 'plain';
  });

it('makes one cache for ten turns and uses it nine times', async () => {
  const responses = await turns(10);

  expect(log()).toEqual(['plain', 'make', ...Array<string>(9).fill('with 1')]);
  expect(double.requests[1]?.body).toEqual({
    model: 'models/gemini-2.5-flash',
    ttl: '1800s',
    displayName: expect.stringMatching(/^agent-server /),
    systemInstruction: { role: 'user', parts: [{ text: 'A long instruction.' }] },
    tools: [{ functionDeclarations: [{ name: 'f', description: 'd', parameters: expect.anything() }] }],
  });
  expect(double.requests[2]?.body).toEqual({
    contents: [{ role: 'user', parts: [{ text: 'turn 2' }] }],
    generationConfig: { temperature: 0 },
    cachedContent: 'cachedContents/1',
  });
  expect(responses[0]).not.toHaveProperty('cacheMetadata');
  expect(responses[9]?.cacheMetadata).toMatchObject({ cacheName: 'cachedContents/1', invocationsUsed: 9 });
});

it('drops a cache that was used as often as allowed, and makes another when it is wanted', async () => {
  await turns(6, { maxInvocations: 2 });
  await double.received(11);

  expect(log().toSorted()).toEqual(
    ['plain', 'make', 'with 1', 'with 1', 'drop 1', 'make', 'with 2', 'with 2', 'drop 2', 'make', 'with 3'].toSorted(),
  );
});

it('makes another cache when the time of the first is over', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  await turns(3, { ttlSeconds: 60 });
  vi.setSystemTime(Date.now() + 59_000);

  await turns(1, { ttlSeconds: 60 });

  expect(log().filter((line) => !line.startsWith('drop'))).toEqual([
    'plain',
    'make',
    'with 1',
    'with 1',
    'make',
    'with 2',
  ]);
});

it('caches nothing that is too short, or that comes only once', async () => {
  await turns(3, { minTokens: 5_001 });
  await turns(1, {}, 'another');
  await turns(1, {}, 'yet another');

  expect(log()).toEqual(Array<string>(5).fill('plain'));
});

it('goes on without a cache when the provider refuses to make one, and does not ask again', async () => {
  double.answer(({ path }) =>
    path.endsWith('/cachedContents') ? { status: 400, json: { error: { message: 'too small' } } } : answered,
  );

  expect(await turns(4)).toHaveLength(4);
  expect(log()).toEqual(['plain', 'make', 'plain', 'plain', 'plain']);
});

it('asks without the cache when the provider has lost it, and makes another', async () => {
  await turns(2);
  const gone = {
    status: 403,
    json: { error: { code: 403, message: 'CachedContent not found (or permission denied)' } },
  };
  double.answer(({ path, body }) => {
    if (path.endsWith('/cachedContents')) return { json: { name: `cachedContents/${(made += 1)}` } };
    return body['cachedContent'] === 'cachedContents/1' ? gone : answered;
  });

  expect(await turns(2)).toMatchObject([{ finishReason: 'STOP' }, { finishReason: 'STOP' }]);
  expect(log().slice(3)).toEqual(['with 1', 'plain', 'make', 'with 2']);
});

it('lets calls that come together share one cache', async () => {
  await turns(1);

  await Promise.all([turns(1), turns(1), turns(1)]);

  expect(log()).toEqual(['plain', 'make', 'with 1', 'with 1', 'with 1']);
});

it('stops waiting for a cache when its signal aborts', async () => {
  await turns(1);
  double.answer(() => ({ broken: 'stall' }));
  const leaving = new AbortController();
  const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];
  const config = { systemInstruction: 'A long instruction.', tools, temperature: 0 };
  const request: ModelRequest = { model: model.name, contents, config, stream: false, contextCache: {} };
  const asked = Array.fromAsync(model.generate(request, leaving.signal));
  await double.received(2);

  leaving.abort(new Error('left'));

  await expect(asked).rejects.toThrow('left');
  expect(log()).toEqual(['plain', 'make']);
});
