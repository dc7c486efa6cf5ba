import { expect, it, vi } from 'vitest';
import { httpPost, rawClient } from '../raw-client.ts';
import { listen, runBody, says, server } from '../server.ts';

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
