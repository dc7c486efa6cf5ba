import { expect, it, vi } from 'vitest';
import { BodyRoom } from '../../src/http/body-room.ts';
import { httpPost, rawClient } from './raw-client.ts';
import { listen, runBody, says, server } from './server.ts';

const { signal } = new AbortController();

it('lets bodies in while they fit, the others as room comes, and a large one alone', async () => {
  const room = new BodyRoom(100);
  const entered: number[] = [];
  const enter = (bytes: number): void => {
    void Promise.resolve(room.enter(bytes, signal)).then(() => entered.push(bytes));
  };
  const settled = (): Promise<number[]> => new Promise((resolve) => setImmediate(() => resolve([...entered])));
  for (const bytes of [60, 50, 500, 40]) enter(bytes);

  expect(await settled()).toEqual([60, 40]);
  room.leave(60);
  expect(await settled()).toEqual([60, 40, 50]);
  room.leave(40);
  expect(await settled()).toEqual([60, 40, 50]);
  room.leave(50);
  expect(await settled()).toEqual([60, 40, 50, 500]);
});

it('refuses after a while what does not fit, and forgets who leaves', async () => {
  vi.useFakeTimers();
  try {
    const room = new BodyRoom(100);
    const left = new AbortController();
    void room.enter(100, signal);
    const refused = room.enter(1, signal);
    const gone = room.enter(100, left.signal);
    left.abort(new Error('left'));
    await expect(gone).rejects.toThrow('left');
    vi.advanceTimersByTime(10_000);
    await expect(refused).rejects.toMatchObject({ code: 'unavailable', retryAfter: 5 });
    room.leave(100);

    expect(room.enter(100, signal)).toBeUndefined();
  } finally {
    vi.useRealTimers();
  }
});

it('reads no more bodies at once than fit, on any route, and all of them in the end', async () => {
  const open: PromiseWithResolvers<void>[] = [];
  const { app } = await server({
    async *script() {
      const gate = Promise.withResolvers<void>();
      open.push(gate);
      await gate.promise;
      yield says('Done');
    },
    config: { bodiesLimitBytes: 250_000 },
  });
  const url = await listen(app);
  const clients = await Promise.all(Array.from({ length: 5 }, () => rawClient(url)));
  for (const { socket } of clients) socket.write(httpPost('/run', runBody('x'.repeat(100_000))));
  const unknown = await rawClient(url);
  unknown.socket.write(httpPost('/nothing', { text: 'x'.repeat(100_000) }));
  const small = await rawClient(url);
  small.socket.write(httpPost('/run', runBody('small')));
  await vi.waitUntil(() => open.length === 3); // two large ones, and the small one
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect([open.length, unknown.received()]).toEqual([3, '']);

  for (let done = 0; done < 6; done += 1) {
    await vi.waitUntil(() => open.length > done);
    open[done]?.resolve();
  }

  await vi.waitUntil(() => clients.every(({ received }) => received().includes('Done')));
  await vi.waitUntil(() => unknown.received().includes('404 Not Found'));
});
