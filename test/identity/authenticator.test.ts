import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import type { Principal } from '../../src/core/principal.ts';
import {
  type Authenticator,
  badCredential,
  bearerToken,
  type CallerRequest,
  callerRequestOf,
  firstOf,
  singleHeader,
} from '../../src/identity/authenticator.ts';
import { callerWith, patient } from '../support/caller.ts';

const ada: Principal = { id: 'ada', actsForUsers: false, roles: new Set(['user']) };
const answering = (answer: Principal | undefined): Authenticator => ({ authenticate: async () => answer });
const refusing: Authenticator = { authenticate: () => Promise.reject(badCredential('secret-reason')) };

async function received(lines: readonly string[], host = '127.0.0.1'): Promise<CallerRequest> {
  const { promise, resolve } = Promise.withResolvers<CallerRequest>();
  const server = createServer((message, response) => {
    resolve(callerRequestOf(message));
    response.end();
  }).listen(0, host);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
  onTestFinished(() => void socket.destroy());
  socket.write(['GET /a?b=c HTTP/1.1', 'Host: x', ...lines, '', ''].join('\r\n'));
  return promise;
}

it('tries one after the other, until one identifies or rejects the caller', async () => {
  const request = callerWith({});

  expect(await firstOf([answering(undefined), answering(ada), refusing]).authenticate(request, patient)).toBe(ada);
  expect(await firstOf([answering(undefined)]).authenticate(request, patient)).toBeUndefined();
  await expect(firstOf([refusing, answering(ada)]).authenticate(request, patient)).rejects.toMatchObject({
    code: 'unauthenticated',
    message: 'The credential is not valid',
  });
});

it('keeps each value of a header that comes more than once', async () => {
  const { headers, method, url } = await received([
    'Authorization: Bearer one',
    'X-User: ada',
    'authorization: Bearer two',
    'x-user: bob',
    'X-USER: eve',
    '__proto__: x',
  ]);

  expect({ method, url }).toEqual({ method: 'GET', url: '/a?b=c' });
  expect(headers).toMatchObject({
    host: 'x',
    authorization: ['Bearer one', 'Bearer two'],
    'x-user': ['ada', 'bob', 'eve'],
  });
  expect(Object.getPrototypeOf(headers)).toBeNull();
  expect(() => bearerToken(headers)).toThrow('The credential is not valid');
  expect(() => singleHeader(headers, 'x-user')).toThrow('The credential is not valid');
});

it('knows the address of the peer as IPv4, whatever the server listens on', async () => {
  expect((await received(['X-Forwarded-For: 10.0.0.1'])).remoteAddress).toBe('127.0.0.1');
  expect((await received([], '::')).remoteAddress).toBe('127.0.0.1');
});

it.each([
  ['Bearer abc', 'abc'],
  ['bearer  abc ', 'abc'],
  ['Bearer', undefined],
  ['Basic abc', undefined],
  ['abc', undefined],
])('finds the token in %j', (authorization, token) => {
  expect(bearerToken({ authorization })).toBe(token);
});
