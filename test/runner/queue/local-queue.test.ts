import { expect, it } from 'vitest';
import { SessionQueue } from '../../../src/runner/queue/local-queue.ts';

const key = { appName: 'app', userId: 'u', sessionId: 's' };
const open = new AbortController().signal;

it('lets runs of one session in one at a time, in the order they came', async () => {
  const queue = new SessionQueue();
  const order: number[] = [];
  const first = await queue.enter(key, 'queue', open);
  const others = [1, 2, 3].map(async (number) => {
    const turn = await queue.enter(key, 'queue', open);
    order.push(number);
    turn.release();
  });

  expect(order).toEqual([]);
  first.release();
  await Promise.all(others);

  expect(order).toEqual([1, 2, 3]);
});

it('never makes runs of different sessions wait for each other', async () => {
  const queue = new SessionQueue();
  await queue.enter(key, 'queue', open);

  const other = await queue.enter({ ...key, sessionId: 't' }, 'reject', open);

  expect(other.signal.aborted).toBe(false);
});

it('refuses a second run under the policy reject, and lets it in afterwards', async () => {
  const queue = new SessionQueue();
  const turn = await queue.enter(key, 'queue', open);

  await expect(queue.enter(key, 'reject', open)).rejects.toMatchObject({ code: 'session_busy' });
  turn.release();

  await expect(queue.enter(key, 'reject', open)).resolves.toBeDefined();
});

it('ends the run in progress under the policy interrupt, and goes before those that wait', async () => {
  const queue = new SessionQueue();
  const order: string[] = [];
  const running = await queue.enter(key, 'queue', open);
  const waiting = queue.enter(key, 'queue', open).then((turn) => {
    order.push('waiting');
    turn.release();
  });
  const interrupting = queue.enter(key, 'interrupt', open).then((turn) => {
    order.push('interrupting');
    turn.release();
  });

  expect(running.signal.reason).toMatchObject({ code: 'run_interrupted' });
  running.release();
  await Promise.all([waiting, interrupting]);

  expect(order).toEqual(['interrupting', 'waiting']);
});

it('bounds the line', async () => {
  const queue = new SessionQueue(1);
  await queue.enter(key, 'queue', open);
  void queue.enter(key, 'queue', open);

  await expect(queue.enter(key, 'queue', open)).rejects.toMatchObject({ code: 'queue_full' });
});

it('lets a caller leave the line, and goes on with the next', async () => {
  const queue = new SessionQueue();
  const leaver = new AbortController();
  const first = await queue.enter(key, 'queue', open);
  const left = queue.enter(key, 'queue', leaver.signal);
  const next = queue.enter(key, 'queue', open);

  leaver.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  first.release();

  await expect(next).resolves.toBeDefined();
});

it('takes a second release of the same turn for nothing', async () => {
  const queue = new SessionQueue();
  const first = await queue.enter(key, 'queue', open);
  const second = queue.enter(key, 'queue', open);
  const third = queue.enter(key, 'queue', open);

  first.release();
  first.release();
  await second;

  const settled = await Promise.race([third.then(() => 'in'), Promise.resolve('waiting')]);
  expect(settled).toBe('waiting');
});

it('lets runs that go first in by the order they came, and tells all but the last to end', async () => {
  const queue = new SessionQueue();
  const begun: [string, boolean][] = [];
  const first = await queue.enter(key, 'queue', open, { id: 'first' });
  const enter = async (id: string, policy: 'queue' | 'interrupt' | 'rollback'): Promise<void> => {
    const turn = await queue.enter(key, policy, open, { id });
    await Promise.resolve();
    begun.push([`${id} ${turn.takesBack ?? ''}`, turn.signal.aborted]);
    turn.release();
  };
  const others = [enter('plain', 'queue'), enter('a', 'rollback'), enter('b', 'interrupt'), enter('c', 'rollback')];

  first.release();
  await Promise.all(others);

  expect(begun).toEqual([
    ['a first', true],
    ['b ', true],
    ['c b', false],
    ['plain ', false],
  ]);
});

it('gives a session that is to be deleted to whoever deletes it, though a run does not end', async () => {
  const queue = new SessionQueue();
  const hung = await queue.enter(key, 'queue', open, { id: 'hung' });
  const waiting = queue.enter(key, 'interrupt', open, { id: 'waiting' });

  const vacated = queue.vacate(key, 1);
  await expect(waiting).rejects.toMatchObject({ code: 'session_not_found' });
  const next = queue.enter(key, 'queue', open, { id: 'next' });
  const hold = await vacated;

  expect(() => hung.check()).toThrow('Session not found: s');
  hold.release();
  const turn = await next;
  hung.release();
  expect(queue.of(key).map(({ id }) => id)).toEqual(['next']);
  turn.release();
  expect(queue.of(key)).toEqual([]);
});
