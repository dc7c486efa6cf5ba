import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { llmAgent } from '../../src/agents/llm-agent.ts';
import { LiveInbox } from '../../src/http/live/inbox.ts';
import { LeasedRunQueue } from '../../src/runs/cluster/leased-queue.ts';
import { Content } from '../../src/schemas/content-schema.ts';
import { sessionJson } from '../../src/schemas/session.ts';
import { openServices } from '../../src/services/open-services.ts';
import { authenticatedTool } from '../../src/tools/authenticated-tool.ts';
import { functionTool } from '../../src/tools/function-tool.ts';
import { call, calls, type Reply, replyModel, text } from '../support/reply-model.ts';
import { say, testRunner } from '../support/run.ts';
import { stores, withStores } from './run-server.ts';

const serverFor = withStores();
const secret = 'ya29.VERY-SECRET-TOKEN';
const authConfig = { authScheme: { type: 'apiKey', in: 'header', name: 'X-Key' }, credentialKey: 'mail' };

function mailer(...replies: Reply[]) {
  const used: unknown[] = [];
  const tool = authenticatedTool({
    name: 'mail',
    description: 'Reads mail.',
    auth: authConfig,
    run: (_args, _ctx, { apiKey }) => {
      used.push(apiKey);
      return { ok: true };
    },
  });
  return { agent: llmAgent({ name: 'root', model: replyModel(...replies), tools: [tool] }), used };
}

interface Shown {
  readonly longRunningToolIds?: string[];
}
const questionIn = (events: readonly Shown[]): string =>
  events.flatMap((event) => event.longRunningToolIds ?? [])[0] ?? '';
const givenAs = (id: string, response: object, name = 'adk_request_credential'): object => ({
  role: 'user',
  parts: [{ functionResponse: { id, name, response } }],
});
const given = { ...authConfig, exchangedAuthCredential: { authType: 'apiKey', apiKey: secret } };

describe.each(stores)('on %s', (store) => {
  it.each([
    ['an AuthConfig', given],
    ['a credential', { authType: 'apiKey', apiKey: secret }],
    ['a text', { result: secret }],
  ])('hands over what a user gives as %s, and keeps it nowhere', async (_name, response) => {
    const { agent, used } = mailer(calls(call('mail')), text('No mail.'));
    const { app, key, runs } = await serverFor(agent, store);
    const { userId, sessionId } = key;
    const place = `/apps/app/users/${userId}/sessions/${sessionId}`;
    const request = { appName: 'app', userId, sessionId };
    const asked = await app.inject({
      method: 'POST',
      url: '/run',
      payload: { ...request, newMessage: { role: 'user', parts: [{ text: 'Mail?' }] } },
    });
    const newMessage = givenAs(questionIn(asked.json()), response);

    const answered = await app.inject({ method: 'POST', url: '/run', payload: { ...request, newMessage } });

    const fork = await app.inject({ method: 'POST', url: `${place}/fork`, payload: {} });
    const shown = await Promise.all(
      [place, `${place}/events`, runs, `/debug/trace/session/${sessionId}`].map((url) => app.inject(url)),
    );
    expect(used).toEqual([secret]);
    expect(shown[0]?.body).toContain('"response":{"received":true}');
    expect([asked, answered, fork, ...shown].filter(({ body }) => body.includes(secret))).toEqual([]);
  });

  it('keeps nothing of a run in the background either', async () => {
    const { agent, used } = mailer(calls(call('mail')), text('No mail.'));
    const { app, key, services, runs, wait, start } = await serverFor(agent, store);
    const first = (await start('Mail?')).json<{ id: string }>();
    await wait(first.id);
    const session = await services.sessions.getSession(key);
    const newMessage = givenAs(questionIn(session?.events ?? []), given);

    const headers = { 'idempotency-key': 'k-1' };
    const second = await app.inject({ method: 'POST', url: runs, headers, payload: { newMessage } });
    await wait(second.json<{ id: string }>().id);
    const again = await app.inject({ method: 'POST', url: runs, headers, payload: { newMessage } });

    expect(again.json()).toMatchObject({ id: second.json<{ id: string }>().id });
    expect(used).toEqual([secret]);
    expect((await app.inject(`${runs}/${second.json<{ id: string }>().id}/stream`)).body).not.toContain(secret);
    expect(sessionJson((await services.sessions.getSession(key))!)).not.toContain(secret);
  });
});

it('writes no credential into the file, while the run waits in line neither', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'agent-credentials-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const kept = (): boolean =>
    readdirSync(folder).some((name) => readFileSync(join(folder, name)).includes(Buffer.from(secret)));
  const {
    sessions,
    runs: store,
    databases,
  } = openServices({
    sessionService: `sqlite:${join(folder, 's.db')}`,
    artifactService: 'memory:',
    memoryService: 'memory:',
  });
  onTestFinished(() => databases.close());
  const queue = new LeasedRunQueue({ store: store!, sessions });
  const { agent, used } = mailer(calls(call('mail')), text('No mail.'));
  const { runner, key } = await testRunner(agent, { queue, services: { sessions } });
  await sessions.createSession(key, { sessionId: key.sessionId });
  const { signal } = new AbortController();
  const ask = say(key, 'Mail?');
  const asked = await Array.fromAsync(await runner.start(ask, signal));
  const other = await queue.acquireExclusive({ session: key, onBusy: 'reject' }, signal);

  const newMessage = givenAs(questionIn(asked), given);
  const pending = await runner.enqueue(say(key, '', { newMessage }), signal);
  const { isWaiting } = pending;
  const keptInLine = kept();
  await other.release();
  await Array.fromAsync(await pending.begin());

  expect(isWaiting).toBe(true);
  expect([used, keptInLine, kept()]).toEqual([[secret], false, false]);
});

it('lets a client put no credential into the state that nobody asked for', async () => {
  const seen: unknown[] = [];
  const tool = functionTool({
    name: 'mail',
    description: 'Reads mail.',
    run: (_args, ctx) => {
      seen.push(ctx.getAuthResponse(authConfig));
      return {};
    },
  });
  const agent = llmAgent({ name: 'root', model: replyModel(calls(call('mail')), text('done')), tools: [tool] });
  const { runner, key } = await testRunner(agent);
  const stateDelta = { 'temp:mail': { authType: 'apiKey', apiKey: 'planted' } };

  await Array.fromAsync(await runner.start(say(key, 'Mail?', { stateDelta }), new AbortController().signal));

  expect(seen).toEqual([undefined]);
});

it('takes a credential out of an answer that goes by another name', async () => {
  const { agent } = mailer(calls(call('mail')), text('done'));
  const { runner, key, services } = await testRunner(agent);
  const { signal } = new AbortController();
  const ask = say(key, 'Mail?');
  const asked = await Array.fromAsync(await runner.start(ask, signal));
  const newMessage = givenAs(questionIn(asked), { result: secret }, 'other');

  await Array.fromAsync(await runner.start(say(key, '', { newMessage }), signal)).catch(() => []);

  expect(sessionJson((await services.sessions.getSession(key))!)).not.toContain(secret);
});

it('keeps nothing of a credential that comes in a live conversation', async () => {
  const { agent, used } = mailer(calls(call('mail')), text('done'), text('No mail.'));
  const { runner, key, services } = await testRunner(agent);
  const { signal } = new AbortController();
  const asked = await Array.fromAsync(await runner.start(say(key, 'Mail?'), signal));
  const inbox = new LiveInbox(() => {});
  inbox.push({ kind: 'content', content: Content.parse(givenAs(questionIn(asked), given)) });
  inbox.end();

  const events = await Array.fromAsync(await runner.startLive(key, inbox, signal));

  const session = (await services.sessions.getSession(key))!;
  expect(used).toEqual([secret]);
  expect(JSON.stringify(events) + sessionJson(session)).not.toContain(secret);
  expect(sessionJson(session)).toContain('"received":true');
});
