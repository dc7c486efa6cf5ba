import { setImmediate as nextIteration } from 'node:timers/promises';
import Fastify from 'fastify';
import { expect, it, onTestFinished, vi } from 'vitest';
import { sendJsonStream } from '../../../src/http/responses/streamed-body.ts';
import { rawClient } from '../raw-client.ts';
import { listen } from '../server.ts';

type Pieces = Iterable<string> | AsyncIterable<string>;

async function answering(pieces: () => Pieces): Promise<string> {
  const app = Fastify();
  app.get('/', (_request, reply) => sendJsonStream(reply, pieces()));
  onTestFinished(() => app.close());
  return listen(app);
}

async function* inTurns(pieces: Iterable<string>): AsyncGenerator<string> {
  for (const piece of pieces) {
    await nextIteration();
    yield piece;
  }
}

const long = ['["', 'x'.repeat(300_000), '","', '€😀'.repeat(200_000), '"]'];

it.each([
  ['little text', ['[', '1', ']'], '3'],
  ['much text', long, null],
])('answers %s from pieces that are there, or come', async (_name, pieces, length) => {
  for (const source of [() => pieces, () => inTurns(pieces)]) {
    const answer = await fetch(await answering(source));

    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.headers.get('content-length')).toBe(length);
    expect(await answer.text()).toBe(pieces.join(''));
  }
});

it('pulls no more than a client that does not read has room for, and lets go when it leaves', async () => {
  let pulled = 0;
  let isLetGo = false;
  const url = await answering(function* () {
    try {
      for (; pulled < 100_000; pulled += 1) yield 'x'.repeat(10_000);
    } finally {
      isLetGo = true;
    }
  });
  const { socket } = await rawClient(url);
  socket.pause();

  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  let last = -1;
  await vi.waitUntil(() => pulled > 0 && last === (last = pulled), { interval: 300, timeout: 10_000 });
  expect(pulled).toBeLessThan(2_000); // what the kernel's socket buffers take
  socket.destroy();
  await vi.waitUntil(() => isLetGo);

  expect(pulled).toBeLessThan(2_000);
});

it('answers a failure at the beginning as a problem, and breaks off an answer that has begun', async () => {
  const early = await fetch(
    await answering(function* () {
      yield '[';
      throw new Error('no');
    }),
  );
  const late = await fetch(
    await answering(function* () {
      yield* long;
      yield* long;
      throw new Error('no');
    }),
  );

  expect(early.status).toBe(500);
  expect(late.status).toBe(200);
  await expect(late.text()).rejects.toThrow('terminated');
});
