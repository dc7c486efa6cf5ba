import { setImmediate as nextIteration } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { delay } from '../../../src/base/abort.ts';
import { type Event, eventJson } from '../../../src/schemas/event.ts';
import { httpPost, rawClient } from '../raw-client.ts';
import { listen, runBody, says, type Script, server } from '../server.ts';

/** A run that yields one event and then waits; `seen` tells what became of it. */
function waitingRun(): { script: Script; seen: { reason?: unknown; closed: boolean } } {
  const seen: { reason?: unknown; closed: boolean } = { closed: false };
  const script: Script = async function* (_request, signal) {
    try {
      yield says('Well');
      await delay(60_000, signal);
    } catch (error) {
      seen.reason = error;
      throw error;
    } finally {
      seen.closed = true;
    }
  };
  return { script, seen };
}

it('sends the headers before the first event', async () => {
  const gate = Promise.withResolvers<void>();
  const { app } = await server({
    async *script() {
      await gate.promise;
      yield says('Hello!');
    },
  });
  const url = await listen(app);

  const response = await fetch(`${url}/run_sse`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(runBody()),
  });
  gate.resolve();

  expect(response.headers.get('content-type')).toBe('text/event-stream');
  expect(await response.text()).toContain('Hello!');
});

it('sends each event at once and whole, in a chunk of its own', async () => {
  const events = [says('one'), says('two — ünïcode'), says('x'.repeat(100_000)), says('four')];
  const { app } = await server({
    async *script() {
      for (const event of events) {
        yield event;
        await nextIteration();
      }
    },
  });
  const { socket, received } = await rawClient(await listen(app));

  socket.write(httpPost('/run_sse', runBody()));
  await vi.waitUntil(() => received().endsWith('0\r\n\r\n'));

  const body = received().slice(received().indexOf('\r\n\r\n') + 4);
  const chunks = events.map((event) => {
    const frame = `data: ${eventJson(event)}\n\n`;
    return `${Buffer.byteLength(frame).toString(16)}\r\n${frame}\r\n`;
  });
  expect(body).toBe(`${chunks.join('')}0\r\n\r\n`);
});

it('sends only whole events in a chunk when many come without a pause', async () => {
  const events = Array.from({ length: 1000 }, (_, index) => says(`number ${index}`));
  const { app } = await server({
    async *script() {
      yield* events;
    },
  });
  const { socket, received } = await rawClient(await listen(app));

  socket.write(httpPost('/run_sse', runBody()));
  await vi.waitUntil(() => received().endsWith('0\r\n\r\n'));

  const body = received().slice(received().indexOf('\r\n\r\n') + 4);
  const chunks = body.split(/\r\n[\da-f]+\r\n|^[\da-f]+\r\n/).filter((chunk) => chunk.startsWith('data: '));
  expect(chunks.length).toBeGreaterThan(2);
  expect(chunks.filter((chunk) => !chunk.endsWith('}\n\n'))).toEqual([]);
  expect(chunks.join('')).toBe(events.map((event) => `data: ${eventJson(event)}\n\n`).join(''));
});

it.each(['/run', '/run_sse'])('cancels a run on %s when its client leaves', async (path) => {
  const { script, seen } = waitingRun();
  let started = false;
  const { app, logged } = await server({
    script: (request, signal) => {
      started = true;
      return script(request, signal);
    },
  });
  const { socket } = await rawClient(await listen(app));

  socket.write(httpPost(path, runBody()));
  await vi.waitUntil(() => started);
  socket.destroy();
  await vi.waitUntil(() => seen.closed);

  expect(seen.reason).toMatchObject({ code: 'run_cancelled', message: 'The client left' });
  expect(logged).toEqual([]);
});

it('lets a run go on without its client when asked to', async () => {
  const gate = Promise.withResolvers<void>();
  const yielded: string[] = [];
  let aborted: boolean | undefined;
  const { app } = await server({
    async *script(_request, signal) {
      yield says('one');
      await gate.promise;
      for (const text of ['two', 'three']) {
        yielded.push(text);
        yield says(text);
      }
      aborted = signal.aborted;
    },
  });
  const { socket, received, ended } = await rawClient(await listen(app));

  socket.write(httpPost('/run_sse', runBody('Hi', { onDisconnect: 'continue' })));
  await vi.waitUntil(() => received().includes('one'));
  socket.destroy();
  await ended;
  await delay(20, AbortSignal.timeout(1000)); // for the server to notice
  gate.resolve();
  await vi.waitUntil(() => aborted !== undefined);

  expect(yielded).toEqual(['two', 'three']);
  expect(aborted).toBe(false);
});

it('ends a run without client after its time', async () => {
  const { script, seen } = waitingRun();
  const { app } = await server({ script, config: { detachedRunMs: 20 } });
  const { socket, received } = await rawClient(await listen(app));

  socket.write(httpPost('/run_sse', runBody('Hi', { onDisconnect: 'continue' })));
  await vi.waitUntil(() => received().includes('Well'));
  socket.destroy();
  await vi.waitUntil(() => seen.closed);

  expect(seen.reason).toMatchObject({ code: 'run_cancelled', message: 'The client left long ago' });
});

/** A source that never pauses, one that gives a few events per turn of the event loop, and one at a human pace. */
const paces: readonly (readonly [string, (produced: number) => Promise<unknown> | undefined])[] = [
  ['never pauses', () => undefined],
  ['pauses for others', (produced) => (produced % 10 === 0 ? nextIteration() : undefined)],
  ['sleeps', (produced) => (produced % 500 === 0 ? delay(20, AbortSignal.timeout(60_000)) : undefined)],
];

it.each(paces)(
  'pulls no more events than a client that does not read has room for: a source that %s',
  async (_, pace) => {
    let produced = 0;
    const text = 'x'.repeat(1000);
    const { app } = await server({
      async *script() {
        for (; produced < 100_000; produced += 1) {
          await pace(produced);
          yield says(text);
        }
      },
    });
    const { socket } = await rawClient(await listen(app));
    socket.pause();

    socket.write(httpPost('/run_sse', runBody()));
    let last = -1;
    await vi.waitUntil(() => produced > 0 && last === (last = produced), { interval: 400, timeout: 20_000 });

    expect(produced).toBeLessThan(20_000); // what the kernel's socket buffers take
  },
);

it('holds back a run of any pace for all of ten clients that do not read', async () => {
  let produced = 0;
  const text = 'x'.repeat(1000);
  const { app } = await server({
    async *script() {
      for (let index = 0; index < 20_000; index += 1) {
        if (index % 10 === 0) await nextIteration();
        produced += 1;
        yield says(text);
      }
    },
  });
  const url = await listen(app);
  for (let client = 0; client < 10; client += 1) {
    const { socket } = await rawClient(url);
    socket.pause();
    socket.write(httpPost('/run_sse', runBody()));
  }
  let last = -1;
  await vi.waitUntil(() => produced > 0 && last === (last = produced), { interval: 400, timeout: 20_000 });

  expect(produced).toBeLessThan(100_000);
});

it('cuts a client that leaves its stream unread', async () => {
  let closed = false;
  const { app } = await server({
    async *script() {
      try {
        for (;;) yield says('x'.repeat(10_000));
      } finally {
        closed = true;
      }
    },
    config: { stallMs: 150, keepAliveMs: 150 },
  });
  const { socket } = await rawClient(await listen(app));
  socket.pause();

  socket.write(httpPost('/run_sse', runBody()));
  await vi.waitUntil(() => closed, { timeout: 10_000 });

  expect(closed).toBe(true);
});

it('keeps a silent stream open with comments', async () => {
  const gate = Promise.withResolvers<void>();
  const { app } = await server({
    async *script() {
      await gate.promise;
      yield says('Hello!');
    },
    config: { keepAliveMs: 30 },
  });
  const { socket, received } = await rawClient(await listen(app));

  socket.write(httpPost('/run_sse', runBody()));
  await vi.waitUntil(() => received().split(': keep-alive\n\n').length > 2);
  gate.resolve();
  await vi.waitUntil(() => received().endsWith('0\r\n\r\n'));

  expect(received()).toContain('Hello!');
});

it('keeps the connection for the next request after a stream', async () => {
  const { app } = await server();
  const { socket, received } = await rawClient(await listen(app));

  socket.write(httpPost('/run_sse', runBody()));
  await vi.waitUntil(() => received().endsWith('0\r\n\r\n'));
  socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await vi.waitUntil(() => received().includes('{"status":"ok"}'));

  expect(received().match(/HTTP\/1.1 200 OK/g)).toHaveLength(2);
});

it('ends open streams with an error frame when it closes', async () => {
  const { script, seen } = waitingRun();
  const { app } = await server({ script });
  const url = await listen(app);
  const stream = await rawClient(url);
  const idle = await rawClient(url);
  stream.socket.write(httpPost('/run_sse', runBody()));
  idle.socket.write('GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await vi.waitUntil(() => stream.received().includes('Well') && idle.received().includes('ok'));

  await app.close();
  await Promise.all([stream.ended, idle.ended]);

  expect(stream.received()).toContain(
    'data: {"error":"The server is shutting down","errorCode":"run_cancelled","errorMessage":"The server is shutting down"}\n\n\r\n0\r\n\r\n',
  );
  expect(seen.closed).toBe(true);
});

it('lets runs end while it closes, takes no new ones and says it is not ready', async () => {
  const gate = Promise.withResolvers<void>();
  const { app } = await server({
    async *script(): AsyncGenerator<Event> {
      await gate.promise;
      yield says('Done');
    },
    config: { shutdownGraceMs: 10_000 },
  });
  const url = await listen(app);
  const running = fetch(`${url}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(runBody()),
  });
  const others = await rawClient(url);
  others.socket.write('GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await vi.waitUntil(() => others.received().includes('ok'));

  const closed = app.close();
  const ready = await fetch(`${url}/ready`);
  const refused = await fetch(`${url}/run`, { method: 'POST' });
  gate.resolve();

  expect(await (await running).text()).toContain('Done');
  await closed;
  expect([ready.status, refused.status]).toEqual([503, 503]);
  expect(ready.headers.get('retry-after')).toBe('5');
  expect(await refused.json()).toMatchObject({ code: 'unavailable' });
});
