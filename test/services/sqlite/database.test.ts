import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { SqliteDatabase } from '../../../src/services/sqlite/database.ts';

const folder = mkdtempSync(join(tmpdir(), 'agent-sqlite-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const none = { app: undefined, user: undefined, session: undefined };
const session = (sessionId: string) => ({
  appName: 'app',
  userId: 'ada',
  sessionId,
  changes: none,
  events: [],
  initialState: null,
  imported: 0,
  lastUpdateTime: 1,
  updateMs: 0,
});

it('stores what is asked for at once together, and fails only what fails', async () => {
  const database = new SqliteDatabase(join(folder, 'one.db'));
  const names = ['a', 'b', 'a', 'c', 'b'];

  const outcomes = await Promise.allSettled(names.map((name) => database.write('createSession', session(name))));

  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'rejected']);
  const rows = await database.read((connection) => connection.all('select id from sessions order by id'));
  expect(rows.map((row) => ({ ...row }))).toEqual([{ id: 'a' }, { id: 'b' }, { id: 'c' }]);
  await database.close();
});

it('does what was asked for before it closes, and nothing afterwards', async () => {
  const path = join(folder, 'two.db');
  const database = new SqliteDatabase(path);
  const writes = ['a', 'b'].map((name) => database.write('createSession', session(name)));

  await database.close();

  await Promise.all(writes);
  await expect(database.write('createSession', session('c'))).rejects.toMatchObject({ code: 'unavailable' });
  await expect(database.read(() => 1)).rejects.toMatchObject({ code: 'unavailable' });
  const again = new SqliteDatabase(path);
  expect(await again.read((connection) => connection.all('select id from sessions'))).toHaveLength(2);
  await again.close();
});

it('goes on after a write that cannot be handed to its thread', async () => {
  const database = new SqliteDatabase(join(folder, 'three.db'));
  const odd = { ...session('odd'), changes: { ...none, app: { removed: [], set: { odd: () => {} } } } };

  await expect(database.write('createSession', odd)).rejects.toThrow('could not be cloned');
  await database.write('createSession', session('a'));

  expect(await database.read((connection) => connection.all('select id from sessions'))).toHaveLength(1);
  await database.close();
});

it('lets two servers write to one file, one after the other', async () => {
  const path = join(folder, 'four.db');
  const [one, other] = [new SqliteDatabase(path), new SqliteDatabase(path)];

  await Promise.all(
    Array.from({ length: 20 }, (_, index) => (index % 2 ? one : other).write('createSession', session(`${index}`))),
  );

  expect(await one.read((connection) => connection.all('select id from sessions'))).toHaveLength(20);
  await Promise.all([one.close(), other.close()]);
});

it('acknowledges nothing that goes to a file that was taken away, and goes on when it is put back', async () => {
  const path = join(folder, 'five.db');
  const database = new SqliteDatabase(path);
  await database.write('createSession', session('a'));
  await database.check();

  renameSync(path, `${path}.away`);
  const away = { code: 'unavailable', message: expect.stringContaining('deleted or replaced'), retryAfter: 2 };
  await expect(database.write('createSession', session('b'))).rejects.toMatchObject(away);
  await expect(database.check()).rejects.toMatchObject(away);
  const rows = await database.read((connection) => connection.all('select id from sessions'));
  renameSync(`${path}.away`, path);
  await database.write('createSession', session('c'));

  expect(rows.map((row) => ({ ...row }))).toEqual([{ id: 'a' }]);
  expect(await database.read((connection) => connection.all('select id from sessions'))).toHaveLength(2);
  await database.close();
});
