import { once } from 'node:events';
import { type RequestOptions, request, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { httpPost, rawClient } from '../raw-client.ts';
import { listen, runBody, says, server } from '../server.ts';

const health = 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n';
const head = 'POST /run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';

/** A client that never closes its end, and reads nothing. */
async function halfOpen(url: string, text: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

/** A server whose times are short: Node looks at half requests every two seconds, and at silence after half of one. */
async function hurried(config: object = {}) {
  const { app } = await server({ config: { bodyLimitBytes: 100_000, stallMs: 1000, ...config } });
  app.server.headersTimeout = 500;
  app.server.requestTimeout = 500;
  app.server.timeout = 500;
  return { app, url: await listen(app) };
}

const connectionsTo = (http: Server): Promise<number> =>
  new Promise((resolve) => http.getConnections((_error, count) => resolve(count)));

it.each([
  ['half a request line', 'GET / HT'],
  ['half the headers', 'GET /health HTTP/1.1\r\nHost: localhost\r\n'],
  ['nothing', ''],
  ['half a body', `${head}Content-Length: 100\r\n\r\n{"a`],
  ['half a chunk', `${head}Transfer-Encoding: chunked\r\n\r\n5\r\n{"a`],
  ['no HTTP', 'NONSENSE\r\n\r\n'],
  ['a method that is unknown', 'BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ['CONNECT', 'CONNECT evil.example:80 HTTP/1.1\r\nHost: evil.example:80\r\n\r\n'],
  ['a request for a foreign host', 'POST /run HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 9\r\n\r\n{'],
  ['a body that is refused and does not come', `${head}Content-Length: 200000\r\n\r\n{"a`],
  ['a body that is far too large and does not come', `${head}Content-Length: 999999999\r\n\r\n{"a`],
  ['its end after a request', health.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')],
  ['more than it reads', 'GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(400)],
])('frees the connection of a client that sends %s and stays', async (_what, text) => {
  const { app, url } = await hurried();

  const clients = await Promise.all(Array.from({ length: 5 }, () => halfOpen(url, text)));
  for (const client of clients) client.pause();

  await vi.waitFor(async () => expect(await connectionsTo(app.server)).toBe(0), { timeout: 15_000, interval: 100 });
});

it('makes room for new clients when those between two requests take all places', async () => {
  const { app, url } = await hurried({ maxConnections: 5 });
  app.server.timeout = 60_000;
  await Promise.all(Array.from({ length: 5 }, () => halfOpen(url, health)));

  await vi.waitFor(async () => expect((await fetch(`${url}/health`)).status).toBe(200), { timeout: 5000 });
});

it('leaves connections alone whose answer takes its time', async () => {
  const { app } = await server({
    async *script() {
      await new Promise((resolve) => setTimeout(resolve, 1500));
      yield says('At last');
    },
  });
  app.server.timeout = 200;
  const { socket, received } = await rawClient(await listen(app));

  socket.write(httpPost('/run', runBody()));

  await vi.waitFor(() => expect(received()).toContain('200 OK'), { timeout: 10_000 });
});

/** Sends as Node's client does and tells the status, or what failed. */
function send(url: string, options: RequestOptions, body: Buffer): Promise<string> {
  return new Promise((resolve) => {
    const call = request(url, { method: 'POST', ...options }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      answer.on('end', () => resolve(`${answer.statusCode} ${(JSON.parse(text) as { code: string }).code}`));
    });
    call.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    call.end(body);
  });
}

it.each([
  ['a length, on a connection that lives on', { 'content-length': 30_000_000 }, undefined],
  ['a length, on a connection of its own', { 'content-length': 30_000_000 }, false],
  ['chunks, on a connection that lives on', {}, undefined],
  ['chunks, on a connection of its own', {}, false],
] as const)('gets its refusal of a body to a client that sends all of it with %s', async (_how, headers, agent) => {
  const { app } = await server({ config: { bodyLimitBytes: 10_000_000 } });
  const url = await listen(app);
  const body = Buffer.alloc(30_000_000, 'x');
  const answers = new Set<string>();

  for (let count = 0; count < 8; count += 1) {
    const options = { headers: { 'content-type': 'application/json', ...headers }, ...(agent === false && { agent }) };
    answers.add(await send(`${url}/run`, options, body));
  }

  expect([...answers]).toEqual(['413 too_large']);
});

it.each([
  ['a foreign host', { host: 'evil.example' }, '403 host_not_allowed'],
  ['a foreign origin', { origin: 'https://evil.example' }, '403 origin_not_allowed'],
  ['another type', { 'content-type': 'text/plain' }, '415 unsupported_media_type'],
])('gets its refusal of %s to a client that sends a long body first', async (_what, headers, answer) => {
  const { app } = await server();
  const options = { headers: { 'content-type': 'application/json', ...headers }, agent: false } as const;

  expect(await send(`${await listen(app)}/run`, options, Buffer.alloc(8_000_000, 'x'))).toBe(answer);
});

it('stops reading what has no end', async () => {
  const { app } = await server({ config: { bodyLimitBytes: 1000 } });
  const socket = await halfOpen(await listen(app), `${head}Transfer-Encoding: chunked\r\n\r\n`);
  const ended = new Promise((resolve) => socket.once('close', resolve));
  const chunk = `100000\r\n${'x'.repeat(1_048_576)}\r\n`;
  let sent = 0;
  const push = (): void => {
    for (let goesOn = true; goesOn && sent < 300; sent += 1) goesOn = socket.write(chunk);
  };
  socket.on('drain', push).resume();
  push();

  await ended;

  expect(sent).toBeLessThan(300);
});

it('answers methods it does not know with 501, and CONNECT too', async () => {
  const { app } = await server();
  const url = await listen(app);
  const answerTo = async (line: string): Promise<string> => {
    const { socket, received, ended } = await rawClient(url);
    socket.write(`${line} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await ended;
    return received();
  };

  expect(await answerTo('BREW /list-apps')).toMatch(/^HTTP\/1.1 501 Not Implemented\r\n/);
  expect(await answerTo('CONNECT localhost:80')).toMatch(/^HTTP\/1.1 501 Not Implemented\r\n/);
});
