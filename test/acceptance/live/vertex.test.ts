import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { LiveClient } from '../../support/live-client.ts';
import { LiveDouble } from '../../support/live-double.ts';
import { openLiveBed } from './bed.ts';

const double = await LiveDouble.start();
beforeEach(() => double.forget());
afterAll(() => double.close());

const model = 'gemini-live-2.5-flash';
const vertex = { GOOGLE_GENAI_USE_VERTEXAI: 'true', GOOGLE_VERTEX_BASE_URL: double.url };

async function talk(env: Record<string, string>, query = '') {
  const apps = { voice: { 'root_agent.yaml': { name: 'voice', model, instruction: 'Speak.' } } };
  const bed = await openLiveBed(apps, { ...vertex, ...env, METADATA_SERVER_DETECTION: 'none' });
  onTestFinished(() => bed.close());
  const client = await LiveClient.connect(bed.url, await bed.session('voice'), { query });
  const line = await double.connection();
  line.say('Hello!');
  await client.frame(({ turnComplete }) => turnComplete === true);
  await client.close();
  return line;
}

/** A key file of another universe than Google's, whose tokens the key signs by itself. */
function keyFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'vertex-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const key = {
    type: 'service_account',
    project_id: 'project-1',
    private_key_id: 'key-1',
    private_key: privateKey,
    client_email: 'live@project-1.test',
    client_id: '1',
    universe_domain: 'universe.test',
  };
  const file = join(folder, 'key.json');
  writeFileSync(file, JSON.stringify(key));
  return file;
}

it('reaches a project’s model with the credentials of the machine', async () => {
  const line = await talk(
    {
      GOOGLE_CLOUD_PROJECT: 'project-1',
      GOOGLE_CLOUD_LOCATION: 'europe-west1',
      GOOGLE_APPLICATION_CREDENTIALS: keyFile(),
    },
    '&explicit_vad_signal=true&enable_session_resumption=true',
  );

  expect(line.url).toMatch(/^\/+ws\/google\.cloud\.aiplatform\.v1beta1\.LlmBidiService\/BidiGenerateContent$/);
  expect(line.headers.authorization).toMatch(/^Bearer [\w-]+\.[\w-]+\.[\w-]+$/);
  expect(line.setup).toMatchObject({
    model: `projects/project-1/locations/europe-west1/publishers/google/models/${model}`,
    generationConfig: { responseModalities: ['AUDIO'] },
    explicitVadSignal: true,
    sessionResumption: {},
  });
});

it('reaches Vertex AI with a key where there is no project', async () => {
  const line = await talk({ GOOGLE_API_KEY: 'test-key-1' });

  expect(line.url).toContain('google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent');
  expect(line.headers['x-goog-api-key']).toBe('test-key-1');
  expect(line.url).not.toContain('test-key-1');
  expect(line.setup.model).toBe(`publishers/google/models/${model}`);
});
