import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ProbeServer, startProbeServer } from '../wire/probe-server.ts';
import { openRaw, parseResponse, requestText } from './raw-http.ts';

let server: ProbeServer;
beforeAll(async () => {
  server = await startProbeServer();
});
afterAll(() => server.stop());

// The times of `test/http/requests/connection-limits.test.ts`, as long as they are in earnest: half a minute.
it('gives up on headers and bodies that never end, with 408 or by closing', async () => {
  const { host } = new URL(server.url);
  const silent = await openRaw(server.url);
  const headers = await openRaw(server.url);
  const body = await openRaw(server.url);
  const drip = setInterval(() => {
    headers.write('x-a: b\r\n');
    body.write(' ');
  }, 500);
  headers.write(`GET /list-apps HTTP/1.1\r\nhost: ${host}\r\n`);
  body.write(
    requestText('POST', '/run', { host, headers: { 'content-type': 'application/json', 'content-length': '5000' } }),
  );
  silent.write(`GET /list-apps HTTP/1.1\r\nhost: ${host}\r\nx-unfinished`);

  const endings = await Promise.all([silent.closed(), headers.closed(), body.closed()]).finally(() =>
    clearInterval(drip),
  );

  for (const ending of endings.filter(Boolean)) expect(parseResponse(ending)).toBeProblem(408);
  expect((await server.client.get('/health')).status).toBe(200);
});
