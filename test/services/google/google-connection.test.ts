import { afterAll, beforeAll, expect, it } from 'vitest';
import { AppError } from '../../../src/base/errors.ts';
import { GoogleConnection } from '../../../src/services/google/google-connection.ts';
import { HttpDouble } from '../../support/http-double.ts';

let double: HttpDouble<unknown>;
beforeAll(async () => {
  double = await HttpDouble.start();
});
afterAll(() => double.close());

const connection = (timeLimitMs = 10_000): GoogleConnection =>
  new GoogleConnection({
    what: 'The service',
    token: () => Promise.reject(new Error('The token was asked for')),
    timeLimitMs,
  });
const outOfReach = { code: 'unavailable', message: 'The service cannot be reached', retryAfter: 2 };

it('sends no credential over plain HTTP', async () => {
  double.answer(() => ({ json: { fine: true } }));
  double.forget();

  const answer = await connection().fetch(`${double.url}/x`, { method: 'POST', body: '{}' });

  expect(await answer.json()).toEqual({ fine: true });
  expect(double.requests[0]?.headers.authorization).toBe('Bearer owner');
});

it('asks for the credential before it sends anything anywhere else', async () => {
  const refused = { code: 'unavailable', message: 'This machine has none' };
  const without = new GoogleConnection({ what: 'The service', token: undefined });
  const failing = new GoogleConnection({
    what: 'The service',
    token: () => Promise.reject(new AppError('unavailable', refused.message)),
  });

  await expect(without.fetch('https://127.0.0.1:1/')).rejects.toMatchObject({
    message: 'The service needs a Google credential',
  });
  await expect(failing.fetch('https://127.0.0.1:1/')).rejects.toMatchObject(refused);
});

it.each([408, 429, 500, 503, 504])('takes an answer of %i for an outage', async (status) => {
  double.answer(() => ({ status, json: { error: { message: 'secret: sk-abcdefghijklmnop' } } }));
  await expect(connection().fetch(double.url)).rejects.toMatchObject(outOfReach);
});

it('gives up on an answer that does not come, and on all of them when it is closed', async () => {
  double.answer(() => ({ broken: 'stall' }));
  const patient = connection();
  double.forget();

  await expect(connection(50).fetch(double.url)).rejects.toMatchObject(outOfReach);
  const waiting = Promise.allSettled([patient.fetch(double.url), patient.pause(60_000)]);
  await double.received(2);
  patient.close();

  expect(await waiting).toMatchObject([
    { status: 'rejected', reason: outOfReach },
    { status: 'rejected', reason: { code: 'unavailable', message: 'The service is not used any more' } },
  ]);
});

it('repeats what is out of reach, and nothing else', async () => {
  const replies = [503, 503, 200];
  double.answer(() => ({ status: replies.shift() ?? 500, json: {} }));
  const patient = connection();
  let tries = 0;

  expect((await patient.retryWhileUnavailable(() => patient.fetch(double.url))).status).toBe(200);
  const refused = patient.retryWhileUnavailable(() => {
    tries += 1;
    return Promise.reject(new AppError('invalid_request', 'no'));
  });
  await expect(refused).rejects.toMatchObject({ code: 'invalid_request' });
  expect(tries).toBe(1);
});
