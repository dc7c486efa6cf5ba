import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { isAuthConfigured } from '../../src/app/auth-config.ts';
import { Config } from '../../src/app/config.ts';
import { type CallersOptions, openAuthenticator } from '../../src/app/open-authenticator.ts';
import { newApiKey } from '../../src/identity/api-keys.ts';
import type { Authenticator } from '../../src/identity/authenticator.ts';
import { Databases } from '../../src/services/open-services.ts';
import { processSecret } from '../../src/tools/auth/server-secret.ts';
import { bearer, callerWith, collectedLog, patient } from '../support/caller.ts';
import { startIssuer } from '../support/issuer.ts';
import { folderOf } from '../support/program.ts';

const log = collectedLog();

async function open(settings: object, more: Partial<CallersOptions> = {}): Promise<Authenticator | undefined> {
  const databases = new Databases();
  const closing = new AbortController();
  onTestFinished(async () => {
    closing.abort();
    await databases.close();
  });
  const options = { databases, log, closing: closing.signal, secret: processSecret, ...more };
  return (await openAuthenticator(Config.parse(settings), options))?.authenticator;
}

it('authenticates no caller without settings', async () => {
  expect(await open({})).toBeUndefined();
});

it('takes each kind of credential that is configured, at the same time', async () => {
  const issuer = await startIssuer();
  onTestFinished(() => issuer.close());
  const { text, record } = newApiKey({ owner: 'Ada', userId: 'ada', actsForUsers: false, roles: ['user'] });
  const keys = join(folderOf({ 'keys.json': JSON.stringify({ keys: [record] }) }), 'keys.json');
  const authenticator = await open(
    {
      auth: {
        keys,
        jwt: { issuer: issuer.url, audience: 'agents', claims: { roles: 'groups', rolesMap: 'staff=operator' } },
        trustedProxy: { addresses: '10.0.0.0/8' },
      },
    },
    { authenticate: ({ headers }) => (headers['cookie'] === 'me' ? { userId: 'eve' } : undefined) },
  );
  const idOf = async (request: ReturnType<typeof callerWith>): Promise<string | undefined> =>
    (await authenticator?.authenticate(request, patient))?.id;

  expect(await idOf(bearer(text))).toBe(`key:${record.id}`);
  expect(await idOf(bearer(await issuer.token()))).toBe(`${issuer.url}|ada`);
  expect(await idOf(callerWith({ 'x-forwarded-user': 'bob' }, '10.0.0.9'))).toBe('proxy:bob');
  expect(await idOf(callerWith({ cookie: 'me' }))).toBe('custom:eve');
  expect(await idOf(callerWith({ 'x-forwarded-user': 'bob', cookie: 'x' }))).toBeUndefined();
  // A bad credential is not made good by another one.
  await expect(
    idOf(callerWith({ 'x-forwarded-user': 'bob', authorization: `Bearer ${text}x` }, '10.0.0.9')),
  ).rejects.toThrow('The credential is not valid');
  const staff = await issuer.token({ claims: { groups: ['staff'] } });
  expect(await authenticator?.authenticate(bearer(staff), patient)).toMatchObject({
    roles: new Set(['user', 'operator']),
  });
});

it('does not start with a key file that cannot be used, but with a database or an issuer that is away', async () => {
  const folder = folderOf({ 'broken.json': '{' });
  const [away, issuer] = ['postgres://ada@127.0.0.1:1/db', 'http://127.0.0.1:1'];

  await expect(open({ auth: { keys: join(folder, 'none.json') } })).rejects.toThrow('agent-server keys create');
  await expect(open({ auth: { keys: join(folder, 'broken.json') } })).rejects.toMatchObject({
    code: 'ConfigurationException',
  });
  await expect(open({ auth: { keys: 'database' } })).rejects.toThrow('--session-service');
  const { text } = newApiKey({ owner: 'Ada', userId: 'ada', actsForUsers: false, roles: ['user'] });
  const waiting = await open({ auth: { keys: 'database', jwt: { issuer, audience: 'a' } }, sessionService: away });
  await expect(waiting?.authenticate(bearer(text), patient)).rejects.toMatchObject({ code: 'unavailable' });
});

it('warns of keys that are fetched without encryption from elsewhere', async () => {
  log.messages.length = 0;
  await open({ auth: { jwt: { issuer: 'http://127.0.0.1:1', audience: 'a' } } });
  await open({ auth: { jwt: { issuer: 'https://issuer.example', audience: 'a' } } });
  expect(log.messages).toEqual([]);

  await open({ auth: { jwt: { issuer: 'http://issuer.example', audience: 'a' } } });
  expect(log.messages).toHaveLength(1);
});

it.each([
  [{ issuer: 'https://a.example' }, 'audience'],
  [{ issuer: 'https://a.example', audience: [] }, 'must name an audience'],
  [{ issuer: 'a.example', audience: 'x' }, 'must be an http or https URL'],
  [{ issuer: 'https://a.example', audience: 'x', algorithms: ['HS256'] }, 'must be asymmetric'],
  [{ issuer: 'https://a.example', audience: 'x', algorithms: 'RS256,none' }, 'must be asymmetric'],
  [{ issuer: 'https://a.example', audience: 'x', clockTolerance: '5m' }, 'must be a time'],
  [
    { issuer: 'https://a.example', audience: 'x', claims: { roles: 'r', rolesMap: { a: 'root' } } },
    'must be user, operator',
  ],
  [{ issuer: 'https://a.example', audience: 'x', claims: { user: 'sub', rolesmap: {} } }, 'unknown key "rolesmap"'],
  [{ issuer: 'https://a.example', audience: 'x', audiences: 'y' }, 'unknown key "audiences"'],
  ['{"issuer":', 'expected object'],
])('refuses the issuer %j', (jwt, message) => {
  const issues = Config.safeParse({ auth: { jwt } }).error?.issues ?? [];

  expect(issues.map((issue) => issue.message).join('; ')).toContain(message);
});

it('wants to know whether two issuers may name the same users', () => {
  const issuers = (claims: object) =>
    ['a', 'b'].map((name) => ({ issuer: `https://${name}.example`, audience: 'x', claims }));
  const isGood = (jwt: unknown): boolean => Config.safeParse({ auth: { jwt } }).success;

  expect(isGood(issuers({}))).toBe(false);
  expect(isGood(issuers({ userPrefix: '' }))).toBe(true);
  expect(isGood(issuers({ user_prefix: 'b:' }))).toBe(true);
  expect(isGood([...issuers({ userPrefix: '' }), ...issuers({ userPrefix: '' })])).toBe(false);
});

it('picks up a key that is added while it runs', async () => {
  const keys = join(folderOf({ 'keys.json': '{"keys":[]}' }), 'keys.json');
  const authenticator = await open({ auth: { keys } });
  const { text, record } = newApiKey({ owner: 'Ada', userId: 'ada', actsForUsers: false, roles: ['user'] });
  const known = (): Promise<string | undefined> =>
    Promise.resolve(authenticator?.authenticate(bearer(text), patient)).then(
      (principal) => principal?.userId,
      () => undefined,
    );
  expect(await known()).toBeUndefined();

  writeFileSync(keys, JSON.stringify({ keys: [record] }));

  await expect.poll(known).toBe('ada');
});

it.each([
  [{ login: { issuer: 'https://a.example' } }, 'auth.login.issuer needs auth.login.clientId'],
  [
    { login: { issuer: 'https://a.example', clientId: 'c' }, jwt: { issuer: 'https://b.example', audience: 'x' } },
    'must be one of the issuers of auth.jwt',
  ],
])('does not start with the login %j', async (auth, message) => {
  await expect(open({ auth })).rejects.toMatchObject({
    code: 'ConfigurationException',
    message: expect.stringContaining(message) as string,
  });
});

it('knows callers by the login at an issuer alone', async () => {
  const auth = { login: { issuer: 'https://a.example', clientId: 'c' } };

  expect(isAuthConfigured(Config.parse({ auth }).auth)).toBe(true);
  expect(
    await (await open({ auth }))?.authenticate(callerWith({ cookie: 'agent-server-login=x' }), patient),
  ).toBeUndefined();
});
