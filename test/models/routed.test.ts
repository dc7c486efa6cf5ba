import { expect, it } from 'vitest';
import type { ModelRequest, ModelResponse, ModelRetry } from '../../src/core/model.ts';
import { createModelRegistry } from '../../src/models/registry.ts';
import { routedModel } from '../../src/models/routed.ts';
import { scriptedModel } from '../../src/models/scripted/scripted.ts';
import type { ScriptError } from '../../src/schemas/script.ts';

const down: ScriptError = { code: 'UNAVAILABLE', throw: true };
const failing = scriptedModel([{ error: down }], 'failing');
const working = scriptedModel([{ text: 'here' }], 'working');

function ask(model: ReturnType<typeof routedModel>, retries: ModelRetry[] = []): Promise<ModelResponse[]> {
  const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];
  const request: ModelRequest = {
    model: model.name,
    contents,
    config: {},
    stream: true,
    onRetry: (one) => retries.push(one),
  };
  return Array.fromAsync(model.generate(request, new AbortController().signal));
}

it('asks the next model when one fails before it said anything, and tells so', async () => {
  const retries: ModelRetry[] = [];

  const responses = await ask(routedModel({ models: [failing, working] }), retries);

  expect(responses).toMatchObject([{ content: { parts: [{ text: 'here' }] } }]);
  expect(retries).toMatchObject([{ attempt: 1, error: { providerCode: 'UNAVAILABLE' } }]);
});

it('stays with a model that has begun to answer', async () => {
  const breaking = scriptedModel([{ chunks: ['a'], error: down }], 'breaking');

  await expect(ask(routedModel({ models: [breaking, working] }))).rejects.toMatchObject({ category: 'SERVER_ERROR' });
});

it('fails with the failure of its last model', async () => {
  const refusing = scriptedModel([{ error: { code: 'UNAUTHENTICATED', throw: true } }], 'refusing');

  await expect(ask(routedModel({ models: [failing, refusing] }))).rejects.toMatchObject({ category: 'AUTH_ERROR' });
});

it('asks the models its router names, under their own names', async () => {
  const seen: string[] = [];
  const spy = {
    name: 'spy',
    async *generate(request: ModelRequest) {
      seen.push(request.model);
      yield { finishReason: 'STOP' };
    },
  };
  const routed = routedModel({ models: [working, failing, spy], router: async () => ['failing', 'spy'] });

  expect(await ask(routed)).toEqual([{ finishReason: 'STOP' }]);
  expect(seen).toEqual(['spy']);
  await expect(ask(routedModel({ models: [working], router: () => 'nobody' }))).rejects.toThrow('"nobody"');
});

it('is no model without models', () => {
  expect(() => routedModel({ models: [] })).toThrow('at least one model');
});

it('is what a registry makes of names with a bar between them', async () => {
  const register = [
    { pattern: 'failing', create: () => failing },
    { pattern: 'working', create: () => working },
    { pattern: 'unset', create: () => failing, isConfigured: () => false },
  ];
  const registry = createModelRegistry({ env: {}, register });

  expect(await ask(registry.resolve('failing | working'))).toMatchObject([{ content: {} }]);
  expect(await ask(registry.resolve('unset|working'))).toMatchObject([{ content: {} }]);
  expect(registry.isConfigured('unset | working')).toBe(true);
  expect(registry.isConfigured('unset | unset')).toBe(false);
  expect(() => registry.resolve('working | nonsense')).toThrow('Unsupported model "nonsense"');
});
