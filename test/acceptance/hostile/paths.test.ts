import { afterAll, beforeAll, expect, it } from 'vitest';
import { newSession } from '../wire/client.ts';
import { type ProbeServer, startProbeServer } from '../wire/probe-server.ts';
import { sendRaw } from './raw-http.ts';

let server: ProbeServer;
let path = '';
beforeAll(async () => {
  server = await startProbeServer();
  ({ path } = await newSession(server.client, 'chat'));
  await server.client.post(`${path}/artifacts`, { filename: 'note.txt', artifact: { text: 'hi' } });
});
afterAll(() => server.stop());

const tricks = [
  '..',
  '.',
  '%2e%2e',
  '%2E%2E',
  '.%2e',
  '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
  '..%2f..%2fpackage.json',
  '..%5c..%5cpackage.json',
  '%5c',
  'a%5cb',
  '%00',
  'a%00b',
  'a%00.txt',
  '%252e%252e%252f',
  '%c0%ae%c0%ae%c0%af',
  '%ff%fe',
  '%',
  '%zz',
  '%u002e',
  '%0d%0aX-Injected:%20yes',
  '%E2%80%A8',
  '..;',
  '...%2f',
] as const;

const places: readonly [string, string, (trick: string) => string][] = [
  ['app of a list', 'GET', (trick) => `/apps/${trick}/users/user/sessions`],
  ['app of a creation', 'POST', (trick) => `/apps/${trick}/users/user/sessions`],
  ['user of a list', 'GET', (trick) => `/apps/chat/users/${trick}/sessions`],
  ['session', 'GET', (trick) => `/apps/chat/users/user/sessions/${trick}`],
  ['session of a deletion', 'DELETE', (trick) => `/apps/chat/users/user/sessions/${trick}`],
  ['artifact', 'GET', (trick) => `${path}/artifacts/${trick}`],
  ['artifact below a folder', 'GET', (trick) => `${path}/artifacts/a/${trick}/b.txt`],
  ['artifact version', 'GET', (trick) => `${path}/artifacts/note.txt/versions/${trick}`],
  ['event of a graph', 'GET', (trick) => `${path}/events/${trick}/graph`],
  ['event of a trace', 'GET', (trick) => `/debug/trace/${trick}`],
  ['session of a trace', 'GET', (trick) => `/dev/apps/chat/debug/trace/session/${trick}`],
  ['app of a graph', 'GET', (trick) => `/dev/apps/${trick}/build_graph`],
  ['app of the builder', 'GET', (trick) => `/dev/apps/${trick}/builder`],
  ['file of the builder', 'GET', (trick) => `/dev/apps/chat/builder?file_path=${trick}`],
  ['app info', 'GET', (trick) => `/apps/${trick}/app-info`],
];

/** Words of files around the server that it must never show. */
const contents = /root:.*:0:0|"devDependencies"|llmAgent\(|ENOENT|EISDIR|ENOTDIR/;

it.each(places)('refuses path tricks in the %s', async (_name, method, targetOf) => {
  for (const trick of tricks) {
    const answer = await sendRaw(server.url, method, targetOf(trick), method === 'POST' ? { body: '{}' } : {});

    // 200 is fine where the trick is a harmless name (`..;`), or where dots fold into a path that exists.
    expect(answer).toBeAnyOf([200, 400, 404, 405]);
    expect(answer.text).not.toMatch(contents);
    expect(answer.headers.get('x-injected')).toBeNull();
  }
});

it.each([
  '/dev-ui/../package.json',
  '/dev-ui/..%2fpackage.json',
  '/dev-ui/%2e%2e/package.json',
  '/dev-ui/%2e%2e%2fpackage.json',
  '/dev-ui/..%2f..%2f..%2f..%2fetc/passwd',
  '/dev-ui/....//....//etc/passwd',
  '/dev-ui/..%5cpackage.json',
  '/dev-ui/..%252f..%252fpackage.json',
  '/dev-ui/%00',
  '/dev-ui/index.html%00.js',
  '/dev-ui//etc/passwd',
  '/dev-ui/%2fetc%2fpasswd',
  '/dev-ui/.env',
  '/dev-ui/.git/config',
  '/dev-ui/assets/../../package.json',
  '/dev-ui/assets/%2e%2e/%2e%2e/src/main.ts',
  '/dev-ui/%ff',
  '/dev-ui/%',
  '/..%2f..%2fetc/passwd',
  '/../../etc/passwd',
  '//etc/passwd',
  '/%2e%2e/package.json',
])('serves nothing outside the development UI for GET %s', async (target) => {
  const answer = await sendRaw(server.url, 'GET', target);

  expect(answer).toBeAnyOf([400, 403, 404]);
  expect(answer.text).not.toMatch(contents);
});

it.each(['//evil.example', '/\\evil.example', '//evil.example/..', '/dev-ui//evil.example', '/%2f%2fevil.example'])(
  'never redirects GET %s to another host',
  async (target) => {
    const { headers } = await sendRaw(server.url, 'GET', target);

    expect(headers.get('location') ?? '/').not.toMatch(/^(\/\/|\/\\|https?:\/\/(?!127\.0\.0\.1))/);
  },
);

it('keeps names apart that differ only in encoding or case', async () => {
  const names = ['A', 'a', '\u00e1', 'a\u0301', 'a%20', 'a b'];
  const base = '/apps/chat/users/apart/sessions';
  for (const name of names) {
    const answer = await server.client.post(`${base}/${encodeURIComponent(name)}`, { state: { name } });
    expect(answer).toHaveStatus(200);
  }

  for (const name of names) {
    expect((await server.client.get(`${base}/${encodeURIComponent(name)}`)).json).toMatchObject({ state: { name } });
  }
});

it('still serves what it served before', async () => {
  expect((await server.client.get(`${path}/artifacts/note.txt`)).json).toEqual({ text: 'hi' });
  expect((await server.client.get('/dev-ui/')).status).toBe(200);
});
