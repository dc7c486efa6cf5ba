import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Run } from '../../../src/schemas/run-record.ts';
import { type Replica, twoReplicas } from './replicas.ts';

let bed: Awaited<ReturnType<typeof twoReplicas>>;
let a: Replica;
let b: Replica;
beforeAll(async () => {
  bed = await twoReplicas(['--max-queued-runs', '200']);
  ({ a, b } = bed);
});
afterAll(() => bed.close());

const either = (index: number): Replica => (index % 2 === 0 ? a : b);
const sessionId = (session: string): string => session.slice(session.lastIndexOf('/') + 1);

it('never interleaves a hundred runs of one session, whichever server they come to', async () => {
  const session = await a.newSession('steps');

  const runs = await Promise.all(
    Array.from({ length: 100 }, (_, index) => either(index).start(session, '2 x 1', { streaming: index % 3 === 0 })),
  );
  expect(runs.filter(({ status }) => status !== 202)).toEqual([]);
  const ended = await Promise.all(runs.map(({ run }, index) => either(index + 1).wait(session, run.id)));

  expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(['done']));
  const history = await b.history(session);
  expect(history).toHaveLength(300);
  for (let turn = 0; turn < 100; turn += 1) {
    const events = history.slice(turn * 3, turn * 3 + 3);
    expect(new Set(events.map(({ run }) => run)).size).toBe(1);
    expect(events.map(({ text }) => text)).toEqual(['2 x 1', '001', '002']);
  }
});

it('loses no update of ten runs that count', async () => {
  const session = await a.newSession('counter');
  const body = { appName: 'counter', userId: 'u', sessionId: sessionId(session) };

  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      either(index).process.fetchJson('/run', { json: { ...body, newMessage: { parts: [{ text: '+' }] } } }),
    ),
  );

  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
  expect(await b.state(session)).toEqual({ count: 10 });
});

it('loses no update of a tool, in whichever scope of the state', async () => {
  const session = await a.newSession('adder');

  const runs = await Promise.all(Array.from({ length: 10 }, (_, index) => either(index).start(session, '+')));
  const ended = await Promise.all(runs.map(({ run }, index) => either(index + 1).wait(session, run.id)));

  expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(['done']));
  const counts = { count: 10, 'user:count': 10, 'app:count': 10 };
  expect([await a.state(session), await b.state(session)]).toEqual([counts, counts]);
});

it('accepts exactly one of many runs under the policy reject', async () => {
  for (const many of [10, 10, 50]) {
    const session = await a.newSession('steps');
    const answers = await Promise.all(
      Array.from({ length: many }, (_, index) => either(index).start(session, '2 x 5000', { onBusy: 'reject' })),
    );

    const accepted = answers.filter(({ status }) => status === 202);
    expect(accepted).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(many - 1);
    await b.cancel(session, accepted[0]!.run.id);
  }
});

it('lets a run interrupt one of the other server, and take back what it did', async () => {
  const session = await a.newSession('steps');
  const first = (await a.start(session, '100 x 20')).run;
  const second = (await b.start(session, '100 x 20', { onBusy: 'interrupt' })).run;
  await expect.poll(async () => (await a.run(session, second.id)).status).toBe('running');
  const third = (await a.start(session, '1 x 1', { onBusy: 'rollback' })).run;

  expect(await b.wait(session, third.id)).toMatchObject({ status: 'done' });
  expect(await b.run(session, first.id)).toMatchObject({ status: 'interrupted', error: { code: 'run_interrupted' } });
  expect(await a.run(session, second.id)).toMatchObject({ status: 'interrupted' });
  const { body } = await a.process.fetchJson(session);
  const { events } = body as { events: { actions: { rewindBeforeInvocationId?: string } }[] };
  expect(events.map(({ actions }) => actions.rewindBeforeInvocationId)).toContain(second.id);
});

it('cancels a run of the other server, and one that waits there', async () => {
  const session = await a.newSession('steps');
  const running = (await a.start(session, '500 x 20')).run;
  const queued = (await a.start(session, '500 x 20')).run;
  expect(queued.status).toBe('queued');

  expect(await b.cancel(session, queued.id)).toMatchObject({ status: 'cancelled' });
  expect(await b.cancel(session, running.id)).toMatchObject({ status: 'cancelled' });
  expect(await a.run(session, running.id)).toMatchObject({ status: 'cancelled', error: { code: 'run_cancelled' } });
  expect((await a.history(session)).at(-1)).toMatchObject({ text: 'run_cancelled', run: running.id });
});

it('streams a run of the other server, and goes on there with a stream that was cut off', async () => {
  const session = await a.newSession('steps');
  const { run } = await a.start(session, '8 x 30', { streaming: true });

  const head = await a.follow(session, run.id, { count: 9 });
  const tail = await b.follow(session, run.id, { last: head.at(-1)!.id! });
  const all = await a.follow(session, run.id);

  const whole = [...head, ...tail].filter(({ data }) => data['partial'] === undefined);
  expect(whole.map(({ json }) => json)).toEqual(
    all.filter(({ data }) => data['partial'] === undefined).map(({ json }) => json),
  );
  expect(whole).toHaveLength(8);
  const ids = [...head, ...tail].map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(tail.some(({ data }) => data['partial'] === true)).toBe(true);
});

it('answers both servers with one run for an idempotency key', async () => {
  const session = await a.newSession('steps');
  const send = async (replica: Replica, text: string) => {
    const response = await fetch(`${replica.process.url}${session}/runs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'k' },
      body: JSON.stringify({ newMessage: { parts: [{ text }] } }),
    });
    return { status: response.status, run: (await response.json()) as Run };
  };

  const answers = await Promise.all(Array.from({ length: 6 }, (_, index) => send(either(index), '2 x 20')));
  const other = await send(b, '3 x 20');

  expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202, 202, 202]);
  expect(new Set(answers.map(({ run }) => run.id)).size).toBe(1);
  expect(other.status).toBe(422);
  await b.wait(session, answers[0]!.run.id);
  expect(await b.history(session)).toHaveLength(3);
});

it('lists the runs of both servers', async () => {
  const session = await a.newSession('steps');
  const first = (await a.start(session, '1 x 1')).run;
  const second = (await b.start(session, '1 x 1')).run;
  await a.wait(session, second.id);

  const { body } = await a.process.fetchJson(`${session}/runs`);

  expect((body as Run[]).map(({ id, status }) => [id, status])).toEqual([
    [second.id, 'done'],
    [first.id, 'done'],
  ]);
});
