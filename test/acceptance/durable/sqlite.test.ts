import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, it } from 'vitest';
import { numbers, Replica } from './replicas.ts';

const folder = mkdtempSync(join(tmpdir(), 'agent-runs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('goes on with the runs of a server that was killed, once it is started again', async () => {
  const path = join(folder, 'killed.db');
  const uri = `sqlite:${path}`;
  const first = await Replica.start(uri);
  const sessions = await Promise.all(Array.from({ length: 3 }, () => first.newSession('steps')));
  const runs = await Promise.all(sessions.map(async (session) => (await first.start(session, '20 x 60')).run));
  const queued = (await first.start(sessions[0]!, '2 x 1')).run;
  const heads = await Promise.all(
    sessions.map((session, index) => first.follow(session, runs[index]!.id, { count: 10 + index * 5 })),
  );
  first.signal('SIGKILL');
  const second = await Replica.start(uri);

  const tails = await Promise.all(
    sessions.map((session, index) => second.follow(session, runs[index]!.id, { last: heads[index]!.at(-1)!.id! })),
  );

  for (const [index, session] of sessions.entries()) {
    const { id } = runs[index]!;
    expect(await second.wait(session, id)).toMatchObject({ status: 'done' });
    const history = (await second.history(session)).filter(({ run }) => run === id);
    expect(history.map(({ text }) => text)).toEqual(['20 x 60', ...numbers(20)]);
    const whole = [...heads[index]!, ...tails[index]!].filter(({ data }) => data['partial'] === undefined);
    expect(whole.map((frame) => frame.id)).toEqual(numbers(20).map((number) => `${id}:${Number(number)}`));
  }
  expect(await second.wait(sessions[0]!, queued.id)).toMatchObject({ status: 'done' });
  expect(await second.process.stop()).toBe(0);
  const file = new DatabaseSync(path);
  expect({ ...file.prepare('pragma integrity_check').get() }).toEqual({ integrity_check: 'ok' });
  file.close();
});

it('goes on at once with the runs of a server that was told to end', async () => {
  const uri = `sqlite:${join(folder, 'ended.db')}`;
  const first = await Replica.start(uri);
  const session = await first.newSession('steps');
  const { run } = await first.start(session, '20 x 60');
  await first.follow(session, run.id, { count: 10 });
  expect(await first.process.stop()).toBe(0);
  const second = await Replica.start(uri);

  expect(await second.wait(session, run.id)).toMatchObject({ status: 'done' });
  expect((await second.history(session)).map(({ text }) => text)).toEqual(['20 x 60', ...numbers(20)]);
  await second.process.stop();
});

it('loses no update of a tool, in whichever scope of the state', async () => {
  const server = await Replica.start(`sqlite:${join(folder, 'counts.db')}`);
  const session = await server.newSession('adder');

  const runs = await Promise.all(Array.from({ length: 10 }, () => server.start(session, '+')));
  const ended = await Promise.all(runs.map(({ run }) => server.wait(session, run.id)));

  expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(['done']));
  expect(await server.state(session)).toEqual({ count: 10, 'user:count': 10, 'app:count': 10 });
  await server.process.stop();
});

it('keeps runs, their order and their keys beyond the end of a server', async () => {
  const uri = `sqlite:${join(folder, 'kept.db')}`;
  const first = await Replica.start(uri);
  const session = await first.newSession('counter');
  const runs = await Promise.all(Array.from({ length: 8 }, () => first.start(session, '+')));
  const cancelled = (await first.start(session, '+')).run;
  await first.cancel(session, cancelled.id);
  await first.wait(session, runs.at(-1)!.run.id);
  await first.process.stop();
  const second = await Replica.start(uri);

  const { body } = await second.process.fetchJson(`${session}/runs`);
  const states = (body as { status: string }[]).map(({ status }) => status);
  expect(states).toHaveLength(9);
  expect(states.filter((status) => status === 'done').length).toBeGreaterThanOrEqual(8);
  const count = Number((await second.state(session))['count']);
  expect(count).toBe(states.filter((status) => status === 'done').length);
  await second.process.stop();
});
