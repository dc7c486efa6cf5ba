import { expect, it } from 'vitest';
import { LocalRunQueue } from '../../../src/runner/queue/local-queue.ts';

const key = { appName: 'app', userId: 'u', sessionId: 's' };
const open = new AbortController().signal;

it('lets runs of one session in one at a time, in the order they came', async () => {
  const queue = new LocalRunQueue();
  const order: number[] = [];
  const first = await queue.acquire(key, 'queue', open);
  const others = [1, 2, 3].map(async (number) => {
    const slot = await queue.acquire(key, 'queue', open);
    order.push(number);
    slot.release();
  });

  expect(order).toEqual([]);
  first.release();
  await Promise.all(others);

  expect(order).toEqual([1, 2, 3]);
});

it('never makes runs of different sessions wait for each other', async () => {
  const queue = new LocalRunQueue();
  await queue.acquire(key, 'queue', open);

  const other = await queue.acquire({ ...key, sessionId: 't' }, 'reject', open);

  expect(other.signal.aborted).toBe(false);
});

it('refuses a second run under the policy reject, and lets it in afterwards', async () => {
  const queue = new LocalRunQueue();
  const slot = await queue.acquire(key, 'queue', open);

  await expect(queue.acquire(key, 'reject', open)).rejects.toMatchObject({ code: 'session_busy' });
  slot.release();

  await expect(queue.acquire(key, 'reject', open)).resolves.toBeDefined();
});

it('ends the run in progress under the policy interrupt, and goes before those that wait', async () => {
  const queue = new LocalRunQueue();
  const order: string[] = [];
  const running = await queue.acquire(key, 'queue', open);
  const waiting = queue.acquire(key, 'queue', open).then((slot) => {
    order.push('waiting');
    slot.release();
  });
  const interrupting = queue.acquire(key, 'interrupt', open).then((slot) => {
    order.push('interrupting');
    slot.release();
  });

  expect(running.signal.reason).toMatchObject({ code: 'run_interrupted' });
  running.release();
  await Promise.all([waiting, interrupting]);

  expect(order).toEqual(['interrupting', 'waiting']);
});

it('bounds the line', async () => {
  const queue = new LocalRunQueue(1);
  await queue.acquire(key, 'queue', open);
  void queue.acquire(key, 'queue', open);

  await expect(queue.acquire(key, 'queue', open)).rejects.toMatchObject({ code: 'queue_full' });
});

it('lets a caller leave the line, and goes on with the next', async () => {
  const queue = new LocalRunQueue();
  const leaver = new AbortController();
  const first = await queue.acquire(key, 'queue', open);
  const left = queue.acquire(key, 'queue', leaver.signal);
  const next = queue.acquire(key, 'queue', open);

  leaver.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  first.release();

  await expect(next).resolves.toBeDefined();
});

it('takes a second release of the same turn for nothing', async () => {
  const queue = new LocalRunQueue();
  const first = await queue.acquire(key, 'queue', open);
  const second = queue.acquire(key, 'queue', open);
  const third = queue.acquire(key, 'queue', open);

  first.release();
  first.release();
  await second;

  const settled = await Promise.race([third.then(() => 'in'), Promise.resolve('waiting')]);
  expect(settled).toBe('waiting');
});

it('lets runs that go first in by the order they came, and tells all but the last to end', async () => {
  const queue = new LocalRunQueue();
  const begun: [string, boolean][] = [];
  const first = await queue.acquire(key, 'queue', open, { id: 'first' });
  const enter = async (id: string, policy: 'queue' | 'interrupt' | 'rollback'): Promise<void> => {
    const slot = await queue.acquire(key, policy, open, { id });
    await Promise.resolve();
    begun.push([`${id} ${slot.rollbackOf ?? ''}`, slot.signal.aborted]);
    slot.release();
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
  const queue = new LocalRunQueue();
  const hung = await queue.acquire(key, 'queue', open, { id: 'hung' });
  const waiting = queue.acquire(key, 'interrupt', open, { id: 'waiting' });

  const vacated = queue.acquireForDeletion(key, 1);
  await expect(waiting).rejects.toMatchObject({ code: 'session_not_found' });
  const next = queue.acquire(key, 'queue', open, { id: 'next' });
  const hold = await vacated;

  expect(() => hung.checkMayWrite()).toThrow('Session not found: s');
  hold.release();
  const slot = await next;
  hung.release();
  expect(queue.runsOf(key).map(({ id }) => id)).toEqual(['next']);
  slot.release();
  expect(queue.runsOf(key)).toEqual([]);
});
