import Fastify, { type FastifyInstance, type InjectOptions } from 'fastify';
import { onTestFinished, expect, it, vi } from 'vitest';
import { errorPolicy } from '../../../src/base/error-policy.ts';
import { AppError } from '../../../src/base/errors.ts';
import type { Principal } from '../../../src/core/principal.ts';
import type { RequestCounts } from '../../../src/core/request-counts.ts';
import { problemSender } from '../../../src/http/errors/problems.ts';
import { failureLimit, requestRateHook, type RequestRateOptions } from '../../../src/http/limits/request-rate.ts';
import { badCredential } from '../../../src/identity/authenticator.ts';
import { collectedLog } from '../../support/caller.ts';

const principal = (id: string, requestsPerMinute?: number): Principal => ({
  id,
  actsForUsers: false,
  roles: new Set(['user']),
  ...(requestsPerMinute !== undefined && { limits: { requestsPerMinute } }),
});

/** A server whose callers name themselves in a header, as `id` or `id limit`. */
async function server(options: Partial<RequestRateOptions> = {}): Promise<FastifyInstance> {
  const app = Fastify();
  onTestFinished(() => app.close());
  const log = collectedLog();
  app.setErrorHandler(problemSender(log, errorPolicy({ showsThrown: false, folders: [], log })));
  const hook = await requestRateHook(app, {
    principalOf: ({ headers: { caller } }) => {
      if (typeof caller !== 'string') return undefined;
      const [id = '', limit] = caller.split(' ');
      return principal(id, limit === undefined ? undefined : Number(limit));
    },
    isCounted: ({ url }) => url !== '/health',
    ...options,
  });
  app.addHook('onRequest', hook);
  app.get('/', () => 'here');
  app.get('/health', () => 'well');
  return app;
}

const get = (app: FastifyInstance, caller?: string, more: InjectOptions = {}) =>
  app.inject({ url: '/', ...(caller !== undefined && { headers: { caller } }), ...more });

it('refuses requests above the limit with a problem, Retry-After and the RateLimit fields', async () => {
  const app = await server({ requestsPerMinute: 2 });

  const first = await get(app, 'key:ada');
  await get(app, 'key:ada');
  const refused = await get(app, 'key:ada');

  expect(first.statusCode).toBe(200);
  expect(first.headers).toMatchObject({
    'ratelimit-policy': '"requests";q=2;w=60',
    ratelimit: '"requests";r=1;t=60',
  });
  expect(refused.statusCode).toBe(429);
  expect(refused.json()).toMatchObject({
    status: 429,
    code: 'rate_limited',
    detail: 'Only 2 requests a minute are allowed',
  });
  expect(refused.headers).toMatchObject({ 'ratelimit-policy': '"requests";q=2;w=60' });
  expect(refused.headers['ratelimit']).toMatch(/^"requests";r=0;t=\d+$/);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
});

it('counts each caller alone, by the limit of its credential before that of the server', async () => {
  const app = await server({ requestsPerMinute: 1 });

  const statuses = [];
  for (const caller of ['key:ada', 'key:ada', 'key:bob', 'key:eve 2', 'key:eve 2', 'key:eve 2', 'key:none 0']) {
    statuses.push((await get(app, caller)).statusCode);
  }

  expect(statuses).toEqual([200, 429, 200, 200, 200, 429, 429]);
});

it('limits by address where it knows no caller, a whole /64 together', async () => {
  const app = await server({ requestsPerMinute: 1 });

  const statuses = [];
  for (const remoteAddress of [
    '10.0.0.1',
    '10.0.0.2',
    '::ffff:10.0.0.1',
    '2001:db8::1',
    '2001:db8::2',
    '2001:db8:0:1::1',
  ]) {
    statuses.push((await get(app, undefined, { remoteAddress })).statusCode);
  }

  expect(statuses).toEqual([200, 200, 429, 200, 429, 200]);
});

it('leaves requests alone that do not count, and callers without a limit', async () => {
  const app = await server();

  const free = await get(app, 'key:ada');
  const limited = await server({ requestsPerMinute: 0 });

  expect(free.headers).not.toHaveProperty('ratelimit');
  expect((await get(limited, 'key:ada', { url: '/health' })).statusCode).toBe(200);
});

it('begins again after a minute', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const app = await server({ requestsPerMinute: 1 });
  await get(app, 'key:ada');
  const refused = await get(app, 'key:ada');
  vi.advanceTimersByTime(60_000);

  expect([refused.statusCode, (await get(app, 'key:ada')).statusCode]).toEqual([429, 200]);
});

it('asks a shared store no more once a window is used up', async () => {
  let requests = 0;
  const counts: RequestCounts = { count: async () => ({ requests: (requests += 1), remainingMs: 30_000 }) };
  const app = await server({ requestsPerMinute: 2, counts });

  const statuses = [];
  for (let sent = 0; sent < 6; sent += 1) statuses.push((await get(app, 'key:ada')).statusCode);

  expect(statuses).toEqual([200, 200, 429, 429, 429, 429]);
  expect(requests).toBe(3);
});

it('lets nothing through uncounted while the shared store is away', async () => {
  const counts: RequestCounts = { count: () => Promise.reject(new AppError('unavailable', 'away', { retryAfter: 5 })) };
  const app = await server({ requestsPerMinute: 2, counts });

  expect((await get(app, 'key:ada')).statusCode).toBe(503);
});

it('refuses an address after too many bad credentials, but not its good ones', async () => {
  const app = Fastify();
  onTestFinished(() => app.close());
  const log = collectedLog();
  app.setErrorHandler(problemSender(log, errorPolicy({ showsThrown: false, folders: [], log })));
  const limitFailures = await failureLimit(app, 3);
  app.addHook('onRequest', (request) =>
    limitFailures(request, async () => {
      if (request.headers.authorization !== 'good') throw badCredential('wrong');
    }),
  );
  app.get('/', () => 'here');
  const statusOf = async (authorization: string, remoteAddress = '10.0.0.1'): Promise<number> =>
    (await app.inject({ url: '/', headers: { authorization }, remoteAddress })).statusCode;

  const statuses = [];
  for (let sent = 0; sent < 5; sent += 1) statuses.push(await statusOf(`bad ${sent}`));

  expect(statuses).toEqual([401, 401, 401, 429, 429]);
  expect(await statusOf('good')).toBe(200);
  expect(await statusOf('bad', '10.0.0.2')).toBe(401);
});
