import { expect, it } from 'vitest';
import { rawClient } from '../raw-client.ts';
import { listen, server } from '../server.ts';

/** What a server on a loopback address answers to these lines. */
async function answerTo(...lines: string[]): Promise<string> {
  const { app } = await server({ config: { defaultApp: 'demo' } });
  const { socket, received, ended } = await rawClient(await listen(app));
  socket.write(`${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n`);
  await ended;
  return received();
}

it.each([
  ['two hosts', ['GET /list-apps HTTP/1.1', 'Host: localhost', 'Host: evil.example'], 'more than one Host'],
  ['the same host twice', ['GET /list-apps HTTP/1.1', 'Host: localhost', 'hOsT: localhost'], 'more than one Host'],
  ['two hosts in HTTP/1.0', ['GET /list-apps HTTP/1.0', 'Host: localhost', 'Host: localhost'], 'more than one Host'],
  ['no host', ['GET /list-apps HTTP/1.1'], 'Host header is missing'],
  ['no host beside an absolute target', ['GET http://localhost/list-apps HTTP/1.1'], 'Host header is missing'],
  ['a host with a space', ['GET /list-apps HTTP/1.1', 'Host: local host'], 'is not a host'],
  ['a host with a port that is none', ['GET /list-apps HTTP/1.1', 'Host: localhost:http'], 'is not a host'],
  ['a URL for a host', ['GET /list-apps HTTP/1.1', 'Host: http://localhost'], 'is not a host'],
  ['a list of hosts', ['GET /list-apps HTTP/1.1', 'Host: localhost, evil.example'], 'is not a host'],
  ['a user in the host', ['GET /list-apps HTTP/1.1', 'Host: me@localhost'], 'is not a host'],
  ['a user in the target', ['GET http://me@localhost/list-apps HTTP/1.1', 'Host: localhost'], 'is not a host'],
  ['a target of another scheme', ['GET ftp://localhost/list-apps HTTP/1.1', 'Host: localhost'], 'is not a path'],
  ['a target without a slash', ['GET list-apps HTTP/1.1', 'Host: localhost'], 'not valid HTTP'],
  ['an authority for a target', ['GET localhost:80 HTTP/1.1', 'Host: localhost'], 'not valid HTTP'],
  ['an asterisk for a target', ['GET * HTTP/1.1', 'Host: localhost'], 'is not a path'],
  ['a folded header', ['GET /list-apps HTTP/1.1', 'Host: localhost', 'X: a', ' b'], 'not valid HTTP'],
  [
    'a length beside chunks',
    ['POST /run HTTP/1.1', 'Host: localhost', 'Content-Length: 5', 'Transfer-Encoding: chunked'],
    'not valid HTTP',
  ],
])('refuses %s', async (_what, lines, detail) => {
  const answer = await answerTo(...lines);

  expect(answer).toMatch(/^HTTP\/1.1 400 /);
  expect(answer).toContain(detail);
});

it.each([
  ['HTTP/1.1', 'http://evil.example/list-apps'],
  ['HTTP/1.1', 'https://EVIL.example:80/list-apps'],
  ['HTTP/1.0', 'http://evil.example/list-apps'],
])('goes by the host of an absolute target in %s: %s', async (version, target) => {
  const answer = await answerTo(`GET ${target} ${version}`, 'Host: localhost');

  expect(answer).toMatch(/^HTTP\/1.1 403 /);
  expect(answer).toContain('host_not_allowed');
});

it.each([
  ['http://localhost/list-apps', '["demo"]'],
  ['HTTP://127.0.0.1:80/list-apps?detailed=false', '["demo"]'],
  ['http://localhost/users/u/sessions', '[]'],
  ['http://localhost', 'HTTP/1.1 307'],
])('serves the absolute target %s whatever the Host header says', async (target, expected) => {
  expect(await answerTo(`GET ${target} HTTP/1.1`, 'Host: evil.example')).toContain(expected);
});

it('tells what the server as a whole can do', async () => {
  const answer = await answerTo('OPTIONS * HTTP/1.1', 'Host: localhost');

  expect(answer).toMatch(/^HTTP\/1.1 204 /);
  expect(answer).toMatch(/^allow: DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT\r$/m);
});

it.each(['QUERY', 'PROPFIND', 'TRACE', 'PURGE'])('answers %s with 405 and what is allowed', async (method) => {
  const answer = await answerTo(`${method} /list-apps HTTP/1.1`, 'Host: localhost');

  expect(answer).toMatch(/^HTTP\/1.1 405 /);
  expect(answer).toMatch(/^allow: GET, HEAD, OPTIONS\r$/m);
});
