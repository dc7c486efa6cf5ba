import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { newEvent } from '../../../src/core/events/new-event.ts';
import { SqlSessions } from '../../../src/services/sessions/sql-sessions.ts';
import { SqliteSessionTables } from '../../../src/services/sessions/sqlite.ts';
import { SqliteDatabase } from '../../../src/services/sqlite/database.ts';
import { InlineWrites } from '../../../src/services/sqlite/inline-writes.ts';

const folder = mkdtempSync(join(tmpdir(), 'agent-lone-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const said = (text: string) => newEvent({ invocationId: 'e-1' }, 'agent', { content: { parts: [{ text }] } });

/** A store with one session, whose database has been written to a few times, one by one. */
async function open(name: string) {
  const path = join(folder, name);
  const sessions = new SqlSessions(new SqliteSessionTables(new SqliteDatabase(path)));
  const session = await sessions.createSession({ appName: 'app', userId: 'ada' });
  const append = async (text: string) => {
    await sessions.appendEvent(session, said(text));
  };
  for (const text of ['one', 'two', 'three']) await append(text);
  await pause(300); // alone, even should one of them have taken long
  const texts = async () => {
    const stored = await sessions.getSession({ appName: 'app', userId: 'ada', sessionId: session.id });
    return stored?.events.map(({ content }) => content?.parts?.[0]?.text);
  };
  return { path, sessions, append, texts };
}

it('waits for another program that writes without holding anyone up', async () => {
  const { path, sessions, append, texts } = await open('busy.db');
  const other = new DatabaseSync(path);
  other.exec('begin immediate');

  const appended = append('four');
  const startMs = performance.now();
  await pause(20);
  // With a statement that waits on this very thread, time would have stood still for seconds, and the lock with it.
  expect(performance.now() - startMs).toBeLessThan(2000);
  other.exec('commit');
  other.close();

  await appended;
  expect(await texts()).toEqual(['one', 'two', 'three', 'four']);
  await sessions.close();
});

it('leaves a slow disk to the writing thread', async () => {
  const { path, sessions, append, texts } = await open('slow.db');
  const other = new DatabaseSync(path);
  // Takes as long as a disk that is busy with other things.
  other.exec(`create trigger slow after insert on agent_events begin select max(n) from (
    with recursive numbers(n) as (values (1) union all select n + 1 from numbers where n < 100000) select n from numbers);
    end`);
  other.close();

  let standstills = 0;
  for (let count = 0; count < 8; count += 1) {
    let hasTurned = false;
    const appended = append(`slow ${count}`);
    // The first turn is the one in which a lone write is done, the later ones come while a thread is at work.
    setTimeout(() => (hasTurned = true), 2);
    await appended;
    if (!hasTurned) standstills += 1;
  }

  expect(standstills).toBeLessThanOrEqual(2);
  expect(await texts()).toHaveLength(11);
  await sessions.close();
});

it('keeps the order of writes that come alone and together', async () => {
  const { sessions, append, texts } = await open('mixed.db');
  const expected = ['one', 'two', 'three'];
  for (let round = 0; round < 230; round += 1) {
    const some = round % 10 === 0 ? ['a', 'b', 'c'] : ['a'];
    const names = some.map((name) => `${name}${round}`);
    expected.push(...names);
    await Promise.all(names.map((name) => append(name)));
    if (round % 40 === 0) await pause(60); // alone again
  }

  expect(await texts()).toEqual(expected);
  await sessions.close();
});

it('acknowledges nothing that goes to a file that was taken away, and goes on when it is put back', async () => {
  const { path, sessions, append, texts } = await open('away.db');

  renameSync(path, `${path}.away`);
  await expect(append('lost')).rejects.toMatchObject({ code: 'unavailable' });
  renameSync(`${path}.away`, path);
  await append('four');

  expect(await texts()).toEqual(['one', 'two', 'three', 'four']);
  await sessions.close();
});

it('leaves one of many to the thread, which brings the log into the file', async () => {
  const { path, sessions } = await open('log.db');
  const lone = new InlineWrites(path);
  await lone.open();
  const write = { name: 'tryStartRun', input: { replicaId: 'here', ref: { session: 1, id: 'none' } } } as const;

  const outcomes = Array.from({ length: 200 }, () => lone.perform(write));

  expect(outcomes.some((outcome) => outcome !== undefined)).toBe(true);
  expect(outcomes.some((outcome) => outcome === undefined)).toBe(true);
  lone.end();
  await sessions.close();
});
