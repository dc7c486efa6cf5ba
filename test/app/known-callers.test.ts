import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Agent, llmAgent } from 'agent-server';
import { createServer, type ServerOptions } from 'agent-server/server';
import { expect, it, onTestFinished } from 'vitest';
import { newApiKey } from '../../src/identity/api-keys.ts';
import { KeyFile } from '../../src/identity/key-file.ts';
import { startIssuer } from '../support/issuer.ts';

const speaker = llmAgent({ name: 'demo', model: 'scripted', script: [{ match: '', text: 'Hello!' }] });
const failing: Agent = {
  name: 'failing',
  // oxlint-disable-next-line require-yield
  async *run() {
    throw new TypeError('the connection string is postgres://x');
  },
};

async function started(options: Partial<ServerOptions>): Promise<string> {
  const server = createServer({ agents: [speaker, failing], port: 0, logLevel: 'silent', env: {}, ...options });
  onTestFinished(() => server.close());
  return (await server.listen()).replace('0.0.0.0', '127.0.0.1');
}

const statusFor = async (url: string, headers: Record<string, string>): Promise<number> =>
  (await fetch(`${url}/apps/demo/users/ada/sessions`, { headers })).status;

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

it('knows callers by API keys of a file, on any address', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'agent-keys-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'keys.json');
  const store = new KeyFile({ path, log: { warn: () => {} } });
  const [ada, bob, shop] = [
    newApiKey({ owner: 'ada', userId: 'ada', actsForUsers: false, roles: ['user'] }),
    newApiKey({ owner: 'bob', userId: 'bob', actsForUsers: false, roles: ['user'] }),
    newApiKey({ owner: 'shop', actsForUsers: true, roles: ['user'] }),
  ];
  for (const { record } of [ada, bob, shop]) await store.add(record);
  const url = await started({ host: '0.0.0.0', auth: { keys: path } });

  expect(await statusFor(url, {})).toBe(401);
  expect(await statusFor(url, bearer(ada.text))).toBe(200);
  expect(await statusFor(url, { 'x-api-key': ada.text })).toBe(200);
  expect(await statusFor(url, bearer(bob.text))).toBe(403);
  expect(await statusFor(url, bearer(shop.text))).toBe(200);
  expect(await statusFor(url, bearer(`${ada.text.slice(0, -1)}_`))).toBe(401);
  expect(await statusFor(url, { ...bearer(ada.text), 'x-api-key': bob.text })).toBe(401);
});

it('knows callers by tokens of an issuer', async () => {
  const issuer = await startIssuer();
  onTestFinished(() => issuer.close());
  const url = await started({ auth: { jwt: [{ issuer: issuer.url, audience: ['agents'] }] } });
  const past = Math.floor(Date.now() / 1_000) - 3_600;
  const unsigned = [{ alg: 'none' }, { iss: issuer.url, aud: 'agents', sub: 'ada', exp: past + 7_200 }]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');

  expect(await statusFor(url, bearer(await issuer.token()))).toBe(200);
  expect(await statusFor(url, bearer(await issuer.token({ claims: { sub: 'bob' } })))).toBe(403);
  expect(await statusFor(url, bearer(await issuer.token({ claims: { aud: 'others' } })))).toBe(401);
  expect(await statusFor(url, bearer(await issuer.token({ claims: { exp: past } })))).toBe(401);
  expect(await statusFor(url, bearer(`${unsigned}.`))).toBe(401);
});

it('answers random credentials with 401', async () => {
  const url = await started({ authenticate: () => undefined });
  const statuses = new Set<number>();
  for (let batch = 0; batch < 10; batch += 1) {
    const tries = Array.from({ length: 50 }, () => statusFor(url, bearer(randomBytes(40).toString('base64url'))));
    for (const status of await Promise.all(tries)) statuses.add(status);
  }
  expect([...statuses]).toEqual([401]);
});

it('does not start on another address without a way to know callers', () => {
  const onAll = (options: Partial<ServerOptions>) => () =>
    createServer({ agents: speaker, host: '0.0.0.0', ...options });

  expect(onAll({})).toThrow('the server would not know who calls');
  expect(onAll({ insecure: true })).not.toThrow();
  expect(onAll({ authenticate: () => undefined })).not.toThrow();
  expect(onAll({ auth: { trustedProxy: { addresses: ['10.0.0.0/8'] } } })).not.toThrow();
});

it('shows callers nothing of what the code of an app throws, on a loopback address as well', async () => {
  const url = await started({ authenticate: () => ({ userId: 'ada' }) });
  const answer = await fetch(`${url}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      appName: 'failing',
      userId: 'ada',
      sessionId: 's',
      newMessage: { role: 'user', parts: [{ text: 'Hi' }] },
      runConfig: { autoCreateSession: true },
    }),
  });
  const text = await answer.text();

  expect(answer.status).toBe(500);
  expect(text).toContain('errorId');
  expect(text).not.toMatch(/postgres|TypeError|known-callers/);
});
