import { expect, it } from 'vitest';
import { LocalRunQueue, type LocalSlot } from '../../../src/runner/queue/local-queue.ts';
import type { OnBusy } from '../../../src/schemas/run.ts';

const key = { appName: 'app', userId: 'u', sessionId: 's' };
const open = new AbortController().signal;

/** Resolves when the run has its session. */
async function acquire(
  queue: LocalRunQueue,
  onBusy: OnBusy,
  { id = 'run', session = key, signal = open } = {},
): Promise<LocalSlot> {
  const request = {
    session,
    runId: id,
    kind: 'run',
    onBusy,
    request: { ...session, streaming: false },
    isNew: true,
    submission: undefined,
  } as const;
  return (await queue.acquire(request, signal)).slot();
}

it('lets runs of one session in one at a time, in the order they came', async () => {
  const queue = new LocalRunQueue();
  const order: number[] = [];
  const first = await acquire(queue, 'queue');
  const others = [1, 2, 3].map(async (number) => {
    const slot = await acquire(queue, 'queue');
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
  await acquire(queue, 'queue');

  const other = await acquire(queue, 'reject', { session: { ...key, sessionId: 't' } });

  expect(other.signal.aborted).toBe(false);
});

it('refuses a second run under the policy reject, and lets it in afterwards', async () => {
  const queue = new LocalRunQueue();
  const slot = await acquire(queue, 'queue');

  await expect(acquire(queue, 'reject')).rejects.toMatchObject({ code: 'session_busy' });
  slot.release();

  await expect(acquire(queue, 'reject')).resolves.toBeDefined();
});

it('ends the run in progress under the policy interrupt, and goes before those that wait', async () => {
  const queue = new LocalRunQueue();
  const order: string[] = [];
  const running = await acquire(queue, 'queue');
  const waiting = acquire(queue, 'queue').then((slot) => {
    order.push('waiting');
    slot.release();
  });
  const interrupting = acquire(queue, 'interrupt').then((slot) => {
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
  await acquire(queue, 'queue');
  void acquire(queue, 'queue');

  await expect(acquire(queue, 'queue')).rejects.toMatchObject({ code: 'queue_full' });
});

it('lets a caller leave the line, and goes on with the next', async () => {
  const queue = new LocalRunQueue();
  const leaver = new AbortController();
  const first = await acquire(queue, 'queue');
  const left = acquire(queue, 'queue', { signal: leaver.signal });
  const next = acquire(queue, 'queue');

  leaver.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  first.release();

  await expect(next).resolves.toBeDefined();
});

it('takes a second release of the same turn for nothing', async () => {
  const queue = new LocalRunQueue();
  const first = await acquire(queue, 'queue');
  const second = acquire(queue, 'queue');
  const third = acquire(queue, 'queue');

  first.release();
  first.release();
  await second;

  const settled = await Promise.race([third.then(() => 'in'), Promise.resolve('waiting')]);
  expect(settled).toBe('waiting');
});

it('lets runs that go first in by the order they came, and tells all but the last to end', async () => {
  const queue = new LocalRunQueue();
  const begun: [string, boolean][] = [];
  const first = await acquire(queue, 'queue', { id: 'first' });
  const enter = async (id: string, policy: 'queue' | 'interrupt' | 'rollback'): Promise<void> => {
    const slot = await acquire(queue, policy, { id });
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
  const hung = await acquire(queue, 'queue', { id: 'hung' });
  const waiting = acquire(queue, 'interrupt', { id: 'waiting' });

  const vacated = queue.acquireForDeletion(key, 1);
  await expect(waiting).rejects.toMatchObject({ code: 'session_not_found' });
  const next = acquire(queue, 'queue', { id: 'next' });
  const hold = await vacated;

  expect(() => hung.checkMayWrite()).toThrow('Session not found: s');
  hold.release();
  const slot = await next;
  hung.release();
  expect(queue.runsOf(key).map(({ id }) => id)).toEqual(['next']);
  slot.release();
  expect(queue.runsOf(key)).toEqual([]);
});
