import { expect, it, vi } from 'vitest';
import { delay } from '../../src/base/abort.ts';
import { httpPost, rawClient } from './raw-client.ts';
import { listen, runBody, says, server } from './server.ts';

const health = 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n';

/** Sends the text over a connection of its own and returns what came back. */
async function exchange(text: string, until: (received: string) => boolean): Promise<string> {
  const { app } = await server({ config: { bodyLimitBytes: 100_000 } });
  const { socket, received } = await rawClient(await listen(app));
  socket.write(text);
  await vi.waitUntil(() => until(received()), { timeout: 5000 });
  return received();
}

const hasBody = (received: string): boolean => received.endsWith('}');

it('answers what is not HTTP in JSON', async () => {
  const received = await exchange('HELLO\r\n\r\n', hasBody);

  expect(received).toMatch(/^HTTP\/1.1 400 Bad Request\r\nContent-Type: application\/problem\+json\r\n/);
  expect(received).toContain('"code":"invalid_request"');
});

it('refuses headers above 16 KB with 431', async () => {
  const received = await exchange(`GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, hasBody);

  expect(received).toMatch(/^HTTP\/1.1 431 Request Header Fields Too Large\r\n/);
  expect(received).toContain('"code":"headers_too_large"');
});

it('refuses HTTP/1.1 without a host', async () => {
  const received = await exchange('GET /health HTTP/1.1\r\n\r\n', hasBody);

  expect(received).toMatch(/^HTTP\/1.1 400 /);
  expect(received).toContain('The Host header is missing');
});

it('refuses an empty host', async () => {
  expect(await exchange('GET /health HTTP/1.1\r\nHost:\r\n\r\n', hasBody)).toMatch(/^HTTP\/1.1 403 /);
});

it('reads a body that is too large to its end, so that the answer arrives and the connection lives on', async () => {
  const received = await exchange(httpPost('/run', 'x'.repeat(5_000_000)) + health, (text) => text.includes('"ok"'));

  expect(received).toMatch(/^HTTP\/1.1 413 Payload Too Large\r\n/);
  expect(received).toContain('HTTP/1.1 200 OK');
});

it('answers pipelined requests in order', async () => {
  const received = await exchange(httpPost('/run', runBody('Hi')) + health + httpPost('/run', {}), (text) =>
    text.includes('invalid_request'),
  );

  expect(received.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 400']);
});

it('writes no error into a stream whose client turns to nonsense', async () => {
  let cancelled = false;
  const { app } = await server({
    async *script(_request, signal) {
      yield says('Well');
      await delay(60_000, signal).finally(() => (cancelled = true));
    },
  });
  const { socket, received, ended } = await rawClient(await listen(app));

  socket.write(httpPost('/run_sse', runBody()));
  await vi.waitUntil(() => received().includes('Well'));
  socket.write('NONSENSE\r\n\r\n');
  await ended;
  await vi.waitUntil(() => cancelled);

  expect(received()).not.toContain('HTTP/1.1 400');
});

it('serves other clients while some send half a request', async () => {
  const { app } = await server();
  const url = await listen(app);
  for (let count = 0; count < 20; count += 1) {
    const { socket } = await rawClient(url);
    socket.write(
      'POST /run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{',
    );
  }

  expect((await fetch(`${url}/health`)).status).toBe(200);
});
