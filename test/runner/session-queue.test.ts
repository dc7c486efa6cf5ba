import { expect, it } from 'vitest';
import { SessionQueue } from '../../src/runner/session-queue.ts';

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
