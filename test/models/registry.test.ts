import { expect, it } from 'vitest';
import type { Model } from '../../src/core/model.ts';
import { createModelRegistry } from '../../src/models/registry.ts';

const named = (name: string): Model => ({ name, generate: async function* () {} });

it.each([
  'gemini-2.5-flash',
  'models/gemini-2.5-pro',
  'gemma-3-27b-it',
  'tunedModels/mine',
  'projects/p/locations/l/endpoints/123',
  'projects/p/locations/l/publishers/google/models/gemini-2.5-flash',
  'claude-opus-5-5',
  'anthropic/claude-sonnet-4-5',
  'openai/gpt-4.1',
  'gpt-5.2',
  'chatgpt-4o-latest',
  'o1',
  'o4-mini',
  'openai-responses/gpt-5.2',
  'ollama/qwen3:8b',
  'vllm/meta/llama-4',
  'scripted',
])('finds %s', (name) => {
  expect(createModelRegistry({ env: {} }).resolve(name).name).toBe(name);
});

it.each(['', 'gemini', 'my-gemini-2.5-flash', 'nonsense', 'scripted2', 'o', 'other1', 'openai/', 'my-claude-3'])(
  'has no model "%s"',
  (name) => {
    expect(() => createModelRegistry({ env: {} }).resolve(name)).toThrow(
      expect.objectContaining({ code: 'ConfigurationException', message: `Unsupported model "${name}"` }),
    );
    expect(createModelRegistry({ env: {} }).isConfigured(name)).toBe(false);
  },
);

it.each([
  ['gemini-x', { GOOGLE_API_KEY: 'k' }, true],
  ['gemini-x', { GEMINI_API_KEY: 'k' }, true],
  ['gemini-x', { GOOGLE_GENAI_API_KEY: 'k' }, true],
  ['gemini-x', { GOOGLE_API_KEY: ' ' }, false],
  ['gemini-x', { GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:1' }, false],
  ['gemini-x', { GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:1', GOOGLE_API_KEY: 'k' }, true],
  ['gemini-x', { GOOGLE_GENAI_USE_VERTEXAI: 'true' }, false],
  ['gemini-x', { GOOGLE_GENAI_USE_VERTEXAI: '1', GOOGLE_CLOUD_PROJECT: 'p' }, true],
  ['gemini-x', { GOOGLE_GENAI_USE_ENTERPRISE: 'false', GOOGLE_CLOUD_PROJECT: 'p' }, false],
  ['claude-opus-5-5', {}, false],
  ['claude-opus-5-5', { ANTHROPIC_API_KEY: 'k' }, true],
  ['claude-opus-5-5', { ANTHROPIC_AUTH_TOKEN: 'k' }, true],
  ['gpt-5.2', { ANTHROPIC_API_KEY: 'k' }, false],
  ['gpt-5.2', { OPENAI_API_KEY: 'k' }, true],
  ['openai-responses/gpt-5.2', { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' }, true],
  ['ollama/qwen3:8b', { OPENAI_API_KEY: 'k' }, false],
  ['ollama/qwen3:8b', { OLLAMA_HOST: '127.0.0.1' }, true],
  ['vllm/llama', { VLLM_BASE_URL: 'http://127.0.0.1:1' }, true],
  ['scripted', {}, true],
])('knows whether %s is configured by %j', (name, env, configured) => {
  expect(createModelRegistry({ env }).isConfigured(name)).toBe(configured);
});

it('keeps an instance for each name, and forgets the least recently used beyond 64', () => {
  let made = 0;
  const registry = createModelRegistry({
    env: {},
    register: [{ pattern: 'mine-.+', create: (name) => (made++, named(name)) }],
  });
  const first = registry.resolve('mine-0');
  for (let index = 1; index < 64; index += 1) registry.resolve(`mine-${index}`);

  expect(registry.resolve('mine-0')).toBe(first);
  registry.resolve('mine-64');
  expect(registry.resolve('mine-0')).toBe(first);
  expect(made).toBe(65);
  registry.resolve('mine-1');
  expect(made).toBe(66);
});

it('prefers what was registered last, and matches whole names only', () => {
  const registry = createModelRegistry({
    env: {},
    register: [{ pattern: /GEMINI-.*|b/i, create: () => named('one') }],
  });
  registry.register({ pattern: 'gemini-2.*', create: () => named('two'), isConfigured: () => false });

  expect(registry.resolve('gemini-2.5').name).toBe('two');
  expect(registry.resolve('gemini-3').name).toBe('one');
  expect(registry.resolve('b').name).toBe('one');
  expect(() => registry.resolve('bb')).toThrow('Unsupported model "bb"');
  expect(registry.isConfigured('gemini-2.5')).toBe(false);
  expect(registry.isConfigured('gemini-3')).toBe(true);
});
