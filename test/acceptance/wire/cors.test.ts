import { afterAll, beforeAll, expect, it } from 'vitest';
import { sessionsPath } from './client.ts';
import { type ProbeServer, startProbeServer } from './probe-server.ts';

const friend = 'http://localhost:4200';
let server: ProbeServer;
beforeAll(async () => {
  server = await startProbeServer({ flags: ['--allow-origin', friend] });
});
afterAll(() => server.stop());

const preflight = (origin: string, method: string): ReturnType<typeof server.client.send> =>
  server.client.send('OPTIONS', '/run_sse', {
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': 'content-type,x-adk-telemetry-request',
    },
  });

it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])('lets an allowed page preflight %s', async (method) => {
  const { status, headers } = await preflight(friend, method);

  expect([200, 204]).toContain(status);
  expect(headers.get('access-control-allow-origin')).toBe(friend);
  expect(headers.get('access-control-allow-methods')).toContain(method);
  expect(headers.get('access-control-allow-headers')?.toLowerCase()).toContain('content-type');
  expect(headers.get('access-control-allow-headers')?.toLowerCase()).toContain('x-adk-telemetry-request');
  expect(headers.get('vary')?.toLowerCase()).toContain('origin');
});

it('lets an allowed page read answers and create sessions', async () => {
  const headers = { origin: friend, 'content-type': 'application/json' };
  const read = await server.client.send('GET', '/list-apps', { headers: { origin: friend } });
  const create = await server.client.send('POST', sessionsPath('chat'), { body: '{}', headers });
  const missing = await server.client.send('GET', `${sessionsPath('chat')}/none`, { headers: { origin: friend } });

  for (const answer of [read, create, missing]) {
    expect(answer.headers.get('access-control-allow-origin')).toBe(friend);
  }
  expect([read.status, create.status, missing.status]).toEqual([200, 200, 404]);
});

it('streams to an allowed page with its CORS headers', async () => {
  const { id } = (await server.client.post(sessionsPath('chat'), {})).json as { id: string };
  const answer = await server.client.send('POST', '/run_sse', {
    headers: { origin: friend, 'content-type': 'application/json' },
    body: JSON.stringify({ appName: 'chat', userId: 'user', sessionId: id, newMessage: { parts: [{ text: 'hi' }] } }),
  });

  expect(answer.status).toBe(200);
  expect(answer.headers.get('access-control-allow-origin')).toBe(friend);
});

it.each([
  'http://localhost:4201',
  'https://localhost:4200',
  'http://localhost:42000',
  'http://localhost:4200.evil.example',
  'http://evil.example',
  'null',
])('gives the page %s neither a preflight nor a run', async (origin) => {
  const asked = await preflight(origin, 'POST');
  const sent = await server.client.send('POST', sessionsPath('chat'), {
    body: '{}',
    headers: { origin, 'content-type': 'application/json' },
  });

  expect(asked.headers.get('access-control-allow-origin')).toBeNull();
  expect(sent).toBeProblem(403, 'origin_not_allowed');
  expect(sent.headers.get('access-control-allow-origin')).toBeNull();
});
