import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { failure as claudeFailure, message, messageStream } from '../support/anthropic-double.ts';
import { type DoubleReply, HttpDouble } from '../support/http-double.ts';
import { completion, completionStream, responses, responsesStream } from '../support/openai-double.ts';
import { ServerProcess } from '../support/server.ts';

type Body = Record<string, unknown>;

const apps = {
  claude_app: 'claude-sonnet-4-5',
  chat_app: 'openai/gpt-4.1',
  responses_app: 'openai-responses/gpt-5.2',
} as const;

const double = await HttpDouble.start<Body>();
const folder = mkdtempSync(join(tmpdir(), 'providers-'));
let server: ServerProcess;

beforeAll(async () => {
  for (const [app, model] of Object.entries(apps)) {
    mkdirSync(join(folder, app));
    const agent = { name: app, model, instruction: 'Be brief.' };
    writeFileSync(join(folder, app, 'root_agent.yaml'), JSON.stringify(agent));
  }
  server = await ServerProcess.start({
    agents: folder,
    env: {
      ANTHROPIC_API_KEY: 'test-key-1',
      ANTHROPIC_BASE_URL: double.url,
      OPENAI_API_KEY: 'test-key-1',
      OPENAI_BASE_URL: `${double.url}/v1`,
    },
  });
});
afterAll(async () => {
  await server.stop();
  await double.close();
  rmSync(folder, { recursive: true });
});

/** A short answer in the words of whoever is asked. */
function short(path: string, body: Body): DoubleReply {
  const streams = body['stream'] === true;
  if (path.endsWith('/messages')) {
    const content = [{ type: 'text', text: 'Hello' }];
    return streams ? messageStream({ content }) : message({ content });
  }
  if (path.endsWith('/responses')) {
    const content = [{ type: 'output_text', text: 'Hello', annotations: [] }];
    const output = [{ type: 'message', id: 'm', role: 'assistant', content }];
    return streams ? responsesStream({ output }) : responses({ output });
  }
  return streams ? completionStream({ message: { content: 'Hello' } }) : completion({ message: { content: 'Hello' } });
}

async function session(app: string): Promise<string> {
  const { body } = await server.fetchJson(`/apps/${app}/users/u/sessions`, { json: {} });
  return (body as { id: string }).id;
}

const runOf = (app: string, sessionId: string, text: string, streaming = false): object => ({
  appName: app,
  userId: 'u',
  sessionId,
  newMessage: { role: 'user', parts: [{ text }] },
  streaming,
});

type Shown = { partial?: boolean; errorCode?: string; errorMessage?: string; content?: { parts: { text?: string }[] } };
const textsOf = (events: readonly Shown[]): string[] =>
  events.map(({ partial, content }) => `${partial ? '+' : ''}${content?.parts.map((part) => part.text).join('')}`);

it.each(Object.keys(apps))('holds a conversation with %s, whole and streamed', async (app) => {
  double.answer(({ path, body }) => short(path, body));
  const id = await session(app);

  const first = await server.fetchJson('/run', { json: runOf(app, id, 'hi') });
  const stream = await server.sse('/run_sse', runOf(app, id, 'again', true));
  const streamed = (await stream.all()) as Shown[];

  expect(textsOf(first.body as Shown[])).toEqual(['Hello']);
  expect(textsOf(streamed)).toEqual(['+Hel', '+lo', 'Hello']);
  const sent = JSON.stringify(double.requests.at(-1)?.body);
  for (const said of ['Be brief.', '"hi"', '"Hello"', '"again"']) expect(sent).toContain(said);
});

it('tells of a failure without the key, and goes on afterwards', async () => {
  const app = 'claude_app';
  double.answer(() => claudeFailure(401, 'authentication_error', 'invalid x-api-key test-key-1'));
  const id = await session(app);

  const failed = await server.fetchJson('/run', { json: runOf(app, id, 'hi') });
  double.answer(({ path, body }) => short(path, body));
  const after = await server.fetchJson('/run', { json: runOf(app, id, 'again') });

  expect(failed.text).not.toContain('test-key-1');
  expect(failed.text).toContain('Not authorized');
  expect(textsOf(after.body as Shown[])).toEqual(['Hello']);
  expect(server.stderr).not.toContain('test-key-1');
});
