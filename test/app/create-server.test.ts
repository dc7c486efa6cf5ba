import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Agent, functionTool, llmAgent, type Plugin } from 'agent-server';
import { type AgentServer, createServer, InMemorySessions, type ServerOptions } from 'agent-server/server';
import { scriptedModel } from 'agent-server/testing';
import { expect, it, onTestFinished } from 'vitest';

const agent = (name: string, reply: string): Agent =>
  llmAgent({ name, model: 'scripted', script: [{ match: '', text: reply }] });

async function started(options: ServerOptions): Promise<AgentServer> {
  const server = createServer({ port: 0, logLevel: 'silent', env: {}, ...options });
  onTestFinished(() => server.close());
  await server.listen();
  return server;
}

async function post(url: string, body: unknown): Promise<{ status: number; text: string }> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, text: await answer.text() };
}

const run = (url: string, appName: string, text = 'hi') =>
  post(`${url}/run`, {
    appName,
    userId: 'ada',
    sessionId: 's1',
    newMessage: { role: 'user', parts: [{ text }] },
    runConfig: { autoCreateSession: true },
  });

it('serves agents, with stores, plugins and models that are handed in', async () => {
  const stored: string[] = [];
  class OwnSessions extends InMemorySessions {
    closed = false;
    override appendEvent(...args: Parameters<InMemorySessions['appendEvent']>) {
      stored.push(args[1].author);
      return super.appendEvent(...args);
    }
    async close() {
      this.closed = true;
    }
  }
  const sessionService = new OwnSessions();
  const heard: string[] = [];
  const plugin: Plugin = { name: 'listener', afterRun: () => void heard.push('afterRun') };
  const server = await started({
    agents: [llmAgent({ name: 'own', model: 'my.model' }), { name: 'app', rootAgent: agent('root', 'From an app.') }],
    sessionService,
    plugins: [plugin, 'logging_plugin'],
    models: [scriptedModel([{ match: '', text: 'From a model.' }], 'my.model')],
  });

  expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect((await run(server.url, 'own')).text).toContain('From a model.');
  expect((await run(server.url, 'app')).text).toContain('From an app.');
  expect(stored).toEqual(['user', 'own', 'user', 'root']);
  expect(heard).toEqual(['afterRun', 'afterRun']);
  expect(await (await fetch(`${server.url}/list-apps`)).json()).toEqual(['app', 'own']);
  const { stores } = (await (await fetch(`${server.url}/capabilities`)).json()) as { stores: unknown };
  expect(stores).toMatchObject({ sessions: { kind: 'custom' }, artifacts: { kind: 'memory' } });

  const { url } = server;
  await server.close();
  await server.close();
  expect(sessionService.closed).toBe(false);
  await expect(fetch(`${url}/health`)).rejects.toThrow('fetch failed');
  expect(() => server.url).toThrow('does not listen');
  await expect(server.listen()).rejects.toThrow('closed');
});

it('serves folders beside agents, which are handed the copy of this server under all its names', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'embedded-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const place of ['one', 'two']) {
    mkdirSync(join(folder, place, `in_${place}`), { recursive: true });
    writeFileSync(
      join(folder, place, `in_${place}`, 'agent.ts'),
      `import { llmAgent } from 'agent-server';
       import { createServer } from 'agent-server/server';
       import { runAgent } from 'agent-server/testing';
       const text = typeof createServer + ' ' + typeof runAgent + ' ${place}';
       export const rootAgent = llmAgent({ name: 'in_${place}', model: 'scripted', script: [{ match: '', text }] });`,
    );
  }
  const server = await started({ agents: [join(folder, 'one'), join(folder, 'two'), agent('made', 'Made.')] });

  for (const place of ['one', 'two']) {
    expect((await run(server.url, `in_${place}`)).text).toContain(`function function ${place}`);
  }
  expect((await run(server.url, 'made')).text).toContain('Made.');
  expect(await (await fetch(`${server.url}/list-apps`)).json()).toEqual(['in_one', 'in_two', 'made']);
});

it('runs several servers in one process, and leaves the process alone', async () => {
  const events = ['SIGINT', 'SIGTERM', 'uncaughtException', 'unhandledRejection', 'exit', 'beforeExit'];
  const listeners = () => events.map((event) => process.listenerCount(event));
  const before = listeners();
  const first = await started({ agents: agent('first', 'One.'), logLevel: 'fatal' });
  const second = await started({ agents: agent('second', 'Two.'), logLevel: 'fatal' });

  expect(listeners()).toEqual(before);
  expect((await run(first.url, 'first')).text).toContain('One.');
  await first.close();
  expect((await run(second.url, 'second')).text).toContain('Two.');
  expect((await run(second.url, 'first')).status).toBe(404);
});

it('takes the settings of the configuration file under their names', async () => {
  const slow = functionTool({ name: 'slow', description: 'Slow.', run: () => new Promise(() => {}) });
  const server = await started({
    agents: llmAgent({
      name: 'slow_one',
      model: 'scripted',
      tools: [slow],
      script: [{ match: '^call', calls: [{ name: 'slow' }] }],
    }),
    runTimeout: '50ms',
    bodyLimit: '1kb',
    cors: { maxAge: 7 },
    allowOrigins: ['https://app.example'],
  });

  expect((await run(server.url, 'slow_one', 'call it')).status).toBe(504);
  expect((await run(server.url, 'slow_one', 'x'.repeat(2000))).status).toBe(413);
  const preflight = await fetch(`${server.url}/run`, {
    method: 'OPTIONS',
    headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' },
  });
  expect(preflight.headers.get('access-control-max-age')).toBe('7');
});

it('refuses options that make no sense, all at once', () => {
  const made = (options: object) => () => createServer({ agents: agent('a', 'x'), ...options });

  expect(made({ sesionService: 'memory:' })).toThrow('unknown option "sesionService" (did you mean "sessionService"?)');
  expect(made({ cors: { maxage: 3 } })).toThrow('unknown option "cors.maxage" (did you mean "cors.maxAge"?)');
  expect(made({ port: -1, onBusy: 'drop' })).toThrow(/"port" must be a whole number.*; "onBusy" must be queue/);
  expect(made({ sessionService: 'nowhere:x' })).toThrow('"sessionService"');
  expect(made({ plugins: ['logging'] })).toThrow('"plugins.0" must be one of');
  expect(made({ agents: '/does/not/exist' })).toThrow('"/does/not/exist" does not exist');
  expect(made({ agents: { name: 'no agent' } })).toThrow('"agents" takes folders, agents and apps');
  expect(made({ host: '0.0.0.0' })).toThrow('reachable by others');
});

it('says what Node says when it cannot listen', async () => {
  const first = await started({ agents: agent('first', 'One.') });
  const second = createServer({ agents: agent('second', 'Two.'), port: Number(new URL(first.url).port), env: {} });

  await expect(second.listen()).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await second.close();
});
