import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { runCommand } from '../../src/cli/cli.ts';
import { ApiKeys } from '../../src/identity/api-keys.ts';
import { KeyFile } from '../../src/identity/key-file.ts';
import { Databases, keyStoreAt } from '../../src/services/open-services.ts';
import { bearer, collectedLog, patient } from '../support/caller.ts';
import { type Ended, run } from '../support/program.ts';

const cwd = mkdtempSync(join(tmpdir(), 'agent-keys-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const keys = (...args: string[]): Promise<Ended> => run(['keys', ...args], { cwd });
const inFile = (name: string): string[] => ['--auth-keys', name];

it('prints a new key once, alone, and keeps only its hash', async () => {
  const at = inFile('one.json');
  const made = await keys('create', '--owner', 'Ada’s laptop', '--user', 'ada', ...at);
  const key = made.out.trimEnd();

  expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^ask_[0-9a-f]{16}_[\w-]{43}\n$/) });
  expect(made.err).not.toContain(key);
  const path = join(cwd, 'one.json');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readFileSync(path, 'utf8')).not.toContain(key.slice(-43));
  const authenticator = new ApiKeys(new KeyFile({ path, log: collectedLog() }));
  expect(await authenticator.authenticate(bearer(key), patient)).toMatchObject({ userId: 'ada', actsForUsers: false });
});

it.each([
  ['a file', ['--auth-keys', 'two.json']],
  ['the database of the sessions', ['--auth-keys', 'database', '--session-service', 'sqlite:two.db']],
])('lists and revokes the keys in %s', async (_, at) => {
  const flags = ['--apps', 'shop,help', '--roles', 'operator,admin', '--expires', '90d', '--acts-for-users'];
  const limits = ['--limits', '{"requestsPerMinute":100,"budgets":{"run":{"tokens":1000}}}'];
  const made = await keys('create', '--owner', 'backend', ...flags, ...limits, '--json', ...at);
  const { key, ...about } = JSON.parse(made.out) as { key: string; id: string; expiresAt: string };

  expect(about).toMatchObject({
    owner: 'backend',
    actsForUsers: true,
    apps: ['shop', 'help'],
    roles: ['operator', 'admin'],
    limits: { requestsPerMinute: 100, budgets: { run: { tokens: 1000 } } },
    state: 'active',
  });
  expect(Date.parse(about.expiresAt) - Date.now()).toBeGreaterThan(89 * 86_400_000);
  expect(JSON.parse((await keys('list', '--json', ...at)).out)).toEqual([about]);
  const listed = (await keys('list', ...at)).out;
  expect(listed).toMatch(
    new RegExp(`^${about.id}  active  owner "backend"  acts for users  roles operator,admin  apps shop,help`),
  );
  expect(listed).not.toContain(key.slice(-43));

  expect(await keys('revoke', `key:${about.id}`, ...at)).toMatchObject({
    code: 0,
    err: expect.stringContaining('  revoked  '),
  });
  expect(JSON.parse((await keys('list', '--json', ...at)).out)).toMatchObject([{ id: about.id, state: 'revoked' }]);
  expect(await keys('revoke', '0123456789abcdef', ...at)).toMatchObject({
    code: 1,
    err: 'There is no key "0123456789abcdef"\n',
  });
});

it('puts keys beside the sessions, where servers find them', async () => {
  const sessionService = `sqlite:${join(cwd, 'three.db')}`;
  const at = ['--auth-keys', 'database', '--session-service', sessionService];
  const { out } = await keys('create', '--owner', 'x', '--user', 'ada', ...at);
  const databases = new Databases();
  const store = keyStoreAt(sessionService, databases);
  const principal = store && (await new ApiKeys(store).authenticate(bearer(out.trim()), patient));
  await databases.close();

  expect(principal).toMatchObject({ userId: 'ada', roles: new Set(['user']) });
});

it.each([
  [['create', '--owner', 'x', '--user', 'ada'], 'Say where the keys are: --auth-keys FILE'],
  [['create', '--user', 'ada', ...inFile('no.json')], 'Say who has the key: --owner TEXT'],
  [['create', '--owner', 'x', ...inFile('no.json')], 'Say for which user the key is: --user ID, or --acts-for-users'],
  [
    ['create', '--owner', 'x', '--roles', 'root', ...inFile('no.json')],
    '--roles must be user, operator, developer or admin',
  ],
  [['create', '--owner', 'x', '--user', 'a/b', ...inFile('no.json')], '--user holds a slash'],
  [['create', '--owner', 'x', '--user', 'a', '--expires', 'soon', ...inFile('no.json')], '--expires must be a time'],
  [['create', '--owner', 'x', '--user', 'a', '--limits', '{"rpm":1}', ...inFile('no.json')], '--limits'],
  [['create', 'me', ...inFile('no.json')], 'Unexpected argument "me"'],
  [['revoke', ...inFile('no.json')], 'Name the id of the key: keys revoke ID'],
  [['delete', ...inFile('no.json')], 'Name what to do: keys create, keys list, keys revoke ID'],
  [[...inFile('no.json')], 'Name what to do'],
])('refuses keys %j', async (args, message) => {
  const complaint = vi.spyOn(console, 'error').mockImplementation(() => {});

  expect(await runCommand(['keys', ...args], { env: {}, cwd })).toBe(2);
  expect(complaint).toHaveBeenCalledExactlyOnceWith(expect.stringContaining(message));
});

it('explains why it cannot use the store of the keys', async () => {
  const make = ['create', '--owner', 'x', '--user', 'ada'];

  expect(await keys('list', ...inFile('none.json'))).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringContaining('make a key with "agent-server keys create"'),
  });
  expect(await keys(...make, '--auth-keys', 'database')).toMatchObject({
    code: 1,
    err: expect.stringContaining('if that is SQLite or PostgreSQL'),
  });
  expect(
    await keys(...make, '--auth-keys', 'database', '--session-service', 'postgres://ada:secret@127.0.0.1:1/db'),
  ).toMatchObject({ code: 1, out: '', err: expect.not.stringContaining('secret') });
});
