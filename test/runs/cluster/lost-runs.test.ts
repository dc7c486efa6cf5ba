import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { AppError } from '../../../src/base/errors.ts';
import { newEvent } from '../../../src/core/events/new-event.ts';
import type { RunContext } from '../../../src/core/runtime.ts';
import type { SessionService } from '../../../src/core/services.ts';
import { LeasedRunQueue } from '../../../src/runs/cluster/leased-queue.ts';
import { RunService } from '../../../src/runs/run-service.ts';
import { textContent, textOf } from '../../../src/schemas/content.ts';
import type { SessionKey } from '../../../src/schemas/session.ts';
import { openServices } from '../../../src/services/open-services.ts';
import { open, say, testRunner } from '../../support/run.ts';

// What whoever asks is told by a server that loses the run meanwhile: two servers in one process, which share a file.

const folder = mkdtempSync(join(tmpdir(), 'agent-lost-runs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A server with one agent, which says `yes` once it may. `onAppend` is called before anything is stored. */
async function server(uri: string) {
  const opened = openServices({ sessionService: uri, artifactService: 'memory:', memoryService: 'memory:' });
  const { artifacts, databases, runs: store } = opened;
  if (!store) throw new Error('SQLite keeps no runs');
  const faults = { onAppend: async (): Promise<void> => {} };
  const sessions = new Proxy<SessionService>(opened.sessions, {
    get(target, name: keyof SessionService) {
      const method = target[name]?.bind(target) as ((...values: unknown[]) => Promise<unknown>) | undefined;
      if (name !== 'appendEvent') return method;
      return (...values: unknown[]) => faults.onAppend().then(() => method?.(...values));
    },
  });
  const begun = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  const agent = {
    name: 'root',
    async *run(ctx: RunContext) {
      begun.resolve();
      const left = Promise.withResolvers<never>();
      ctx.signal.addEventListener('abort', () => left.reject(ctx.signal.reason));
      await Promise.race([mayEnd.promise, left.promise]);
      yield newEvent(ctx, 'root', { content: textContent('model', 'yes') });
    },
  };
  const durable = { store, queue: new LeasedRunQueue({ store, sessions }) };
  const { runner, services } = await testRunner(agent, { queue: durable.queue, services: { sessions, artifacts } });
  const runs = new RunService({ runner, queue: durable.queue, services, durable });
  onTestFinished(async () => {
    await runs.drain(0);
    await databases.close();
  });
  return { runs, faults, sessions, begun: begun.promise, end: mayEnd.resolve };
}

async function twoServers() {
  const uri = `sqlite:${join(folder, `${randomUUID()}.db`)}`;
  const [one, other] = [await server(uri), await server(uri)];
  const key = { appName: 'app', userId: 'u', sessionId: randomUUID() };
  await one.sessions.createSession(key, { sessionId: key.sessionId });
  return { one, other, key };
}

const textsOf = async (sessions: SessionService, key: SessionKey): Promise<string[]> =>
  (await sessions.getSession(key))!.events.map(({ content, errorCode }) => errorCode ?? textOf(content));

it('answers with the run that another server has taken over before its message was stored', async () => {
  const { one, other, key } = await twoServers();
  one.faults.onAppend = () => {
    other.runs.start();
    return other.begun;
  };

  const { run } = await one.runs.submit(say(key, 'hi'));

  expect(run).toMatchObject({ status: 'running' });
  other.end();
  expect(await one.runs.wait({ ...key, runId: run.id }, 10_000, open)).toMatchObject({ status: 'done' });
  expect(await textsOf(one.sessions, key)).toEqual(['hi', 'yes']);
});

it('cancels a run that another server has taken over meanwhile, before it says so', async () => {
  const { one, other, key } = await twoServers();
  const { run } = await one.runs.submit(say(key, 'hi'));
  await one.begun;
  other.runs.start();
  await other.begun;

  const cancelled = await one.runs.cancel({ ...key, runId: run.id }, { rollback: false }, open);

  expect(cancelled).toMatchObject({ status: 'cancelled' });
  expect(await other.runs.get({ ...key, runId: run.id })).toMatchObject({ status: 'cancelled' });
  expect(await textsOf(one.sessions, key)).toEqual(['hi', 'run_cancelled']);
});

it('answers with a run that goes on once the database is back', async () => {
  const { one, key } = await twoServers();
  one.faults.onAppend = () => Promise.reject(new AppError('unavailable', 'The database cannot be reached'));

  const { run } = await one.runs.submit(say(key, 'hi'));

  expect(run).toMatchObject({ status: 'queued' });
  expect(await textsOf(one.sessions, key)).toEqual([]);
  one.faults.onAppend = () => Promise.resolve();
  one.runs.start();
  one.end();
  const done = (): Promise<string> => one.runs.get({ ...key, runId: run.id }).then(({ status }) => status);
  await expect.poll(done, { timeout: 10_000 }).toBe('done');
  expect(await textsOf(one.sessions, key)).toEqual(['hi', 'yes']);
});
