import { expect, it, vi } from 'vitest';
import { newEvent } from '../../../src/core/events/new-event.ts';
import type { Agent, RunContext } from '../../../src/core/runtime.ts';
import { textContent } from '../../../src/schemas/content.ts';
import type { Run } from '../../../src/schemas/run-record.ts';
import type { Session } from '../../../src/schemas/session.ts';
import { SteppedAgent, stores, withStores } from '../run-server.ts';

const runServer = withStores();
type Server = Awaited<ReturnType<typeof runServer>>;

const sessionOf = ({ key }: Server): string => `/apps/app/users/u/sessions/${key.sessionId}`;
const remove = (server: Server) => server.app.inject({ method: 'DELETE', url: sessionOf(server) });
const create = (server: Server) => server.app.inject({ method: 'POST', url: sessionOf(server), payload: {} });

it.each(stores)('ends the runs of a deleted session, and a new one of its id has nothing of it (%s)', async (store) => {
  const agent = new SteppedAgent('Hi');
  const server = await runServer(agent, store);
  const { app, key, start, runs, texts, services } = server;
  const running = (await start('one')).json<Run>().id;
  const queued = (await start('two', {}, { 'idempotency-key': 'k' })).json<Run>().id;
  await vi.waitUntil(() => agent.isWaiting);
  await services.artifacts!.saveArtifact(key, 'note', { text: 'old' });
  const stream = app.inject(`${runs}/${running}/stream`);
  const wait = app.inject(`${runs}/${running}/wait?timeoutMs=30000`);
  await server.read(running); // the others are under way by then

  expect((await remove(server)).statusCode).toBe(200);
  expect((await create(server)).statusCode).toBe(200);

  // The database may have looked for the run of a request that came first only when all is deleted.
  expect((await wait).json()).toMatchObject({ status: 404, code: expect.stringMatching(/^(session|run)_not_found$/) });
  expect((await stream).body).toMatch(/"(errorCode|code)":"(session|run)_not_found"/);
  for (const id of [running, queued]) {
    for (const path of [`${runs}/${id}`, `${runs}/${id}/stream`, `${runs}/${id}/wait`]) {
      expect((await app.inject(path)).statusCode).toBe(404);
    }
    expect((await app.inject({ method: 'POST', url: `${runs}/${id}/cancel` })).statusCode).toBe(404);
  }
  expect((await app.inject(runs)).json()).toEqual([]);
  agent.open();
  const again = await start('three', {}, { 'idempotency-key': 'k' });
  expect(again.headers['idempotency-replayed']).toBeUndefined();
  await server.wait(again.json<Run>().id);
  expect(agent.begun).toEqual(['one', 'three']);
  expect(await texts()).toEqual(['three', 'Hi']);
  expect(await services.artifacts!.listArtifactKeys(key)).toEqual([]);
});

it.each(stores)('answers plain runs of a deleted session with 404 (%s)', async (store) => {
  const agent = new SteppedAgent('Hi');
  const server = await runServer(agent, store);
  const payload = { ...server.key, newMessage: textContent('user', 'one') };
  const stream = server.app.inject({ method: 'POST', url: '/run_sse', payload });
  await vi.waitUntil(() => agent.isWaiting);
  const plain = server.app.inject({ method: 'POST', url: '/run', payload });

  await remove(server);

  expect((await stream).body).toContain('"errorCode":"session_not_found"');
  expect((await plain).json()).toMatchObject({ status: 404, code: 'session_not_found' });
});

/** Writes what it can, whatever its signal says, once the test lets it. */
class StubbornAgent implements Agent {
  readonly name = 'root';
  readonly mayGoOn = Promise.withResolvers<void>();
  readonly begun = Promise.withResolvers<void>();
  readonly outcomes: unknown[] = [];
  readonly ended = Promise.withResolvers<void>();

  async *run(ctx: RunContext) {
    this.begun.resolve();
    await this.mayGoOn.promise;
    const { sessions, artifacts } = ctx.services;
    const { appName, userId, id: sessionId } = ctx.session;
    const event = newEvent(ctx, this.name, { content: textContent('model', 'late') });
    for (const write of [
      () => sessions.appendEvent(ctx.session as Session, event),
      () => artifacts!.saveArtifact({ appName, userId, sessionId }, 'late', { text: 'late' }),
    ]) {
      await write().catch((error: unknown) => this.outcomes.push(error));
    }
    this.ended.resolve();
    yield event;
  }
}

it.each(stores)('deletes a session though its run does not end, and refuses what that writes (%s)', async (store) => {
  const agent = new StubbornAgent();
  const server = await runServer(agent, store);
  const { services, key } = server;
  await server.start('one');
  await agent.begun.promise;

  await remove(server);
  await create(server);
  agent.mayGoOn.resolve();
  await agent.ended.promise;

  expect(agent.outcomes).toMatchObject([{ code: 'session_not_found' }, { code: 'session_not_found' }]);
  expect((await services.sessions.getSession(key))!.events).toEqual([]);
  expect(await services.artifacts!.listArtifactKeys(key)).toEqual([]);
});

it.each(stores)('waits for what the run of a deleted session is just writing (%s)', async (store) => {
  const saving = Promise.withResolvers<void>();
  const maySave = Promise.withResolvers<void>();
  const agent: Agent = {
    name: 'root',
    async *run(ctx) {
      const { appName, userId, id: sessionId } = ctx.session;
      await ctx.services.artifacts!.saveArtifact({ appName, userId, sessionId }, 'late', { text: 'late' });
      yield newEvent(ctx, 'root', { content: textContent('model', 'Hi') });
    },
  };
  const server = await runServer(agent, store);
  const { services, key } = server;
  const save = services.artifacts!.saveArtifact.bind(services.artifacts);
  vi.spyOn(services.artifacts!, 'saveArtifact').mockImplementation(async (...values) => {
    saving.resolve();
    await maySave.promise;
    return save(...values);
  });
  await server.start('one');
  await saving.promise;

  const removed = remove(server);
  setTimeout(maySave.resolve, 100);
  await removed;

  expect(await services.artifacts!.listArtifactKeys(key)).toEqual([]);
});

it.each(stores)('takes deletions of one session at once for one (%s)', async (store) => {
  const agent = new SteppedAgent('Hi');
  const server = await runServer(agent, store);
  await server.start('one');
  await vi.waitUntil(() => agent.isWaiting);

  const answers = await Promise.all(Array.from({ length: 5 }, () => remove(server)));

  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200, 200]);
  expect((await server.app.inject(sessionOf(server))).statusCode).toBe(404);
  expect((await create(server)).json()).toMatchObject({ events: [] });
});

it.each(stores)('refuses runs that come while their session is deleted (%s)', async (store) => {
  const agent = new SteppedAgent('Hi');
  const server = await runServer(agent, { store, maxQueued: 40 });
  await server.start('one');
  await vi.waitUntil(() => agent.isWaiting);

  const removed = remove(server);
  const payload = { ...server.key, newMessage: textContent('user', 'late') };
  const late = [
    ...Array.from({ length: 5 }, () => server.start('late')),
    ...Array.from({ length: 5 }, () => server.app.inject({ method: 'POST', url: '/run', payload })),
  ];
  await removed;

  for (const answer of await Promise.all(late)) expect([202, 404]).toContain(answer.statusCode);
  await create(server);
  expect((await server.app.inject(server.runs)).json()).toEqual([]);
  expect(await server.texts()).toEqual([]);
  expect(agent.begun).toEqual(['one']);
});

it.each(stores)('deletes a session whose run never ends, and lets the next one of its id run (%s)', async (store) => {
  const agent = new SteppedAgent('Hi');
  let endings = 0;
  const afterRun = async (): Promise<void> => {
    endings += 1;
    if (endings === 1) await new Promise(() => {});
  };
  const server = await runServer(agent, { store, plugins: [{ name: 'hangs', afterRun }] });
  const first = (await server.start('one')).json<Run>();
  await vi.waitUntil(() => agent.isWaiting);
  const stream = server.app.inject(`${server.runs}/${first.id}/stream`);
  await server.read(first.id); // the stream is under way by then

  await remove(server);
  await create(server);
  agent.open();

  expect((await stream).body).toContain('"errorCode":"session_not_found"');
  expect((await server.app.inject(server.runs)).json()).toEqual([]);
  const second = (await server.start('two')).json<Run>();
  expect(await server.wait(second.id)).toMatchObject({ status: 'done' });
  expect(await server.texts()).toEqual(['two', 'Hi']);
});

it('ends runs of a session that another server deletes', async () => {
  const agent = new SteppedAgent('Hi');
  const [one, other] = [await runServer(agent, 'postgres'), await runServer(new SteppedAgent('Hi'), 'postgres')];
  const running = (await one.start('one')).json<Run>().id;
  const queued = (await one.start('two')).json<Run>().id;
  await vi.waitUntil(() => agent.isWaiting);
  const waits = [one, other].map(({ app }) => app.inject(`${one.runs}/${running}/wait?timeoutMs=30000`));
  const streams = [one, other].map(({ app }) => app.inject(`${one.runs}/${running}/stream`));
  for (const { app } of [one, other]) await app.inject(`${one.runs}/${running}`); // the others are under way by then

  await other.app.inject({ method: 'DELETE', url: sessionOf(one) });
  await other.app.inject({ method: 'POST', url: sessionOf(one), payload: {} });

  for (const wait of await Promise.all(waits)) expect(wait.statusCode).toBe(404);
  for (const stream of await Promise.all(streams)) expect(stream.body).toContain('"errorCode":"session_not_found"');
  for (const { app } of [one, other]) {
    for (const id of [running, queued]) expect((await app.inject(`${one.runs}/${id}`)).statusCode).toBe(404);
    expect((await app.inject(one.runs)).json()).toEqual([]);
  }
  agent.open();
  const again = (await one.start('three')).json<Run>();
  expect(await one.wait(again.id)).toMatchObject({ status: 'done' });
  expect(agent.begun).toEqual(['one', 'three']);
  expect(await one.texts()).toEqual(['three', 'Hi']);
});
