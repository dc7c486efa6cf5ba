import { afterAll, expect, it } from 'vitest';
import { llmAgent } from '../../src/agents/llm-agent.ts';
import { createModelRegistry } from '../../src/models/registry.ts';
import { Conversation } from '../support/fake-run.ts';
import { HttpDouble } from '../support/http-double.ts';

type Body = Record<string, unknown>;

const double = await HttpDouble.start<Body>();
afterAll(() => double.close());

/** What was sent, in order: `make`, `drop`, `plain`, `cached`. */
const log = (): string[] =>
  double.requests.map(({ method, path, body }) => {
    if (method === 'DELETE') return 'drop';
    if (path.endsWith('/cachedContents')) return 'make';
    return body['cachedContent'] === undefined ? 'plain' : 'cached';
  });

it('serves ten turns of an app with one context cache that is used nine times and dropped at its limit', async () => {
  double.answer(({ method, path }) => {
    if (method === 'DELETE') return { json: {} };
    if (path.endsWith('/cachedContents')) return { json: { name: 'cachedContents/1' } };
    const candidate = { content: { role: 'model', parts: [{ text: 'ok' }] }, finishReason: 'STOP' };
    return { json: { candidates: [candidate], usageMetadata: { promptTokenCount: 5_000 } } };
  });
  const env = { GOOGLE_API_KEY: 'test-key-1', GOOGLE_GEMINI_BASE_URL: double.url };
  const agent = llmAgent({ name: 'a', model: 'gemini-2.5-flash', instruction: 'A rule. '.repeat(2_000) });
  const conversation = new Conversation(agent, {
    models: createModelRegistry({ env }),
    app: { contextCache: { maxInvocations: 9 } },
  });

  for (let turn = 1; turn <= 10; turn += 1) await conversation.send(`turn ${turn}`);
  await double.received(12);

  expect(log()).toEqual(['plain', 'make', ...Array<string>(9).fill('cached'), 'drop']);
});
