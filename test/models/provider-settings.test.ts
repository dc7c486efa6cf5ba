import { afterAll, beforeEach, expect, it } from 'vitest';
import type { Model, ModelResponse } from '../../src/core/model.ts';
import { claude, gemini, openai } from '../../src/models/provider-models.ts';
import { createModelRegistry } from '../../src/models/registry.ts';
import { serviceAccountCredentials } from '../../src/models/service-account.ts';
import { message } from '../support/anthropic-double.ts';
import { HttpDouble } from '../support/http-double.ts';
import { completion, responses } from '../support/openai-double.ts';

const double = await HttpDouble.start<Record<string, unknown>>();
const geminiAnswer = { json: { candidates: [{ content: { parts: [{ text: 'ok' }] }, finishReason: 'STOP' }] } };

beforeEach(() => {
  double.forget();
  double.answer(() => geminiAnswer);
});
afterAll(() => double.close());

function ask(model: Model, config = {}): Promise<ModelResponse[]> {
  const inlineData = { mimeType: 'image/png', data: 'aGk=', displayName: 'x.png' };
  const contents = [{ role: 'user', parts: [{ inlineData }] }];
  const request = { model: model.name, contents, config, stream: false };
  return Array.fromAsync(model.generate(request, new AbortController().signal));
}

it('reaches Vertex with a key, and tells it names and labels', async () => {
  const env = { GOOGLE_GENAI_USE_VERTEXAI: '1', GOOGLE_API_KEY: 'k', GOOGLE_VERTEX_BASE_URL: double.url };

  await ask(createModelRegistry({ env }).resolve('gemini-2.5-flash'), { labels: { a: 'b' } });

  expect(double.requests[0]).toMatchObject({
    path: '/v1beta1/publishers/google/models/gemini-2.5-flash:generateContent',
    headers: { 'x-goog-api-key': 'k' },
    body: { labels: { a: 'b' }, contents: [{ parts: [{ inlineData: { displayName: 'x.png' } }] }] },
  });
});

it('takes the key of Gemini in the order of ADK', async () => {
  const base = { GOOGLE_GEMINI_BASE_URL: double.url, GOOGLE_API_KEY: 'b', GEMINI_API_KEY: 'c' };

  await ask(createModelRegistry({ env: base }).resolve('gemini-a'));
  await ask(createModelRegistry({ env: { ...base, GOOGLE_GENAI_API_KEY: 'a' } }).resolve('models/gemini-a'));

  expect(double.requests.map((one) => one.headers['x-goog-api-key'])).toEqual(['b', 'a']);
  expect(double.requests.map((one) => one.path)).toEqual(
    Array.from({ length: 2 }, () => '/v1beta/models/gemini-a:generateContent'),
  );
});

it.each([
  ['apigee/gemini-a', '/v1beta/models/gemini-a:generateContent'],
  ['apigee/gemini/v1/gemini-a', '/v1/models/gemini-a:generateContent'],
  ['apigee/vertex_ai/gemini-a', '/v1beta1/publishers/google/models/gemini-a:generateContent'],
])('reaches %s through the proxy', async (name, path) => {
  const env = { APIGEE_PROXY_URL: double.url, GOOGLE_API_KEY: 'k' };

  await ask(createModelRegistry({ env }).resolve(name));

  expect(double.requests[0]?.path).toBe(path);
});

it('has no model behind a proxy that is not known', () => {
  const registry = createModelRegistry({ env: { OPENAI_API_KEY: 'k' } });

  expect(() => registry.resolve('apigee/openai/gpt-4.1')).toThrow('needs APIGEE_PROXY_URL');
  expect(registry.isConfigured('apigee/openai/gpt-4.1')).toBe(false);
});

it('reaches models of OpenAI through the same proxy', async () => {
  double.answer(() => completion({}));
  const env = { APIGEE_PROXY_URL: double.url };

  await ask(createModelRegistry({ env }).resolve('apigee/openai/gpt-4.1'));

  expect(double.requests[0]).toMatchObject({ path: '/chat/completions', body: { model: 'gpt-4.1' } });
});

it('makes models with settings of their own', async () => {
  const baseUrl = double.url;
  double.answer(({ path }) => {
    if (path.includes('generateContent')) return geminiAnswer;
    if (path.endsWith('/messages')) return message({});
    return path.endsWith('/responses') ? responses({}) : completion({});
  });

  await ask(gemini({ model: 'gemini-a', apiKey: 'own', baseUrl }));
  await ask(claude({ model: 'claude-a', apiKey: 'own', baseUrl }));
  await ask(openai({ model: 'gpt-a', apiKey: 'own', baseUrl }));
  await ask(openai({ model: 'gpt-a', apiKey: 'own', baseUrl, api: 'responses' }));

  expect(double.requests.map((one) => one.path)).toEqual([
    '/v1beta/models/gemini-a:generateContent',
    '/v1/messages',
    '/chat/completions',
    '/responses',
  ]);
});

const key = {
  type: 'service_account',
  client_email: 'me@project.iam.gserviceaccount.com',
  private_key: '-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----\n',
  project_id: 'p',
};

it('reads the key of a service account', () => {
  expect(serviceAccountCredentials(JSON.stringify(key))).toEqual(key);
});

it.each([
  ['{', 'is not JSON'],
  ['[]', 'check the whole'],
  [JSON.stringify({ ...key, type: 'authorized_user' }), 'check type'],
  [JSON.stringify({ ...key, private_key: 'secret' }), 'check private_key'],
])('refuses what is no key, without repeating it', (json, words) => {
  expect(() => serviceAccountCredentials(json)).toThrow(
    expect.objectContaining({ code: 'ConfigurationException', message: expect.stringContaining(words) }),
  );
  expect(() => serviceAccountCredentials(json)).not.toThrow(/secret/);
});
