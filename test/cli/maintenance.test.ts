import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { openServices } from '../../src/services/open-services.ts';
import { saying } from '../../src/testing/contracts/events.ts';
import { FirestoreDouble } from '../support/firestore-double.ts';
import type { FirestoreValue } from '../support/firestore-values.ts';
import { type Ended, mainFile, start } from '../support/program.ts';

const cwd = mkdtempSync(join(tmpdir(), 'agent-stores-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const at = (name: string): string[] => [
  '--session-service',
  `sqlite:${join(cwd, `${name}.db`)}`,
  '--artifact-service',
  `file:${join(cwd, name)}`,
];
const program = (...args: string[]): Promise<Ended> => {
  const started = start(args, { cwd });
  started.end('');
  return started.ended;
};

async function fill(name: string): Promise<void> {
  const [, sessionService = '', , artifactService = ''] = at(name);
  const { sessions, artifacts, databases } = openServices({
    sessionService,
    artifactService,
    memoryService: 'memory:',
  });
  for (const sessionId of ['s1', 's2']) {
    const owner = { appName: 'app', userId: 'ada' };
    const session = await sessions.createSession(owner, {
      sessionId,
      state: { 'app:theme': 'dark', topic: sessionId },
    });
    await sessions.appendEvent(session, saying('hi\n"there"', { mood: 'blue' }));
    await artifacts.saveArtifact({ ...owner, sessionId }, 'note', { text: sessionId }, { why: 1 });
    await artifacts.saveArtifact({ ...owner, sessionId }, 'user:face', { text: sessionId });
  }
  await databases.close();
}

it('takes everything from one store to another, once', async () => {
  await fill('one');

  expect(await program('export', 'all.jsonl', ...at('one'))).toMatchObject({ code: 0, err: '2 sessions written\n' });
  expect(await program('import', 'all.jsonl', ...at('two'))).toMatchObject({
    code: 0,
    err: '2 sessions and 4 artifacts imported; 0 existed already\n',
  });
  expect((await program('import', 'all.jsonl', ...at('two'))).err).toContain(
    '0 sessions and 0 artifacts imported; 2 existed',
  );

  const again = await program('export', ...at('two'));
  expect(again.out).toBe(readFileSync(join(cwd, 'all.jsonl'), 'utf8'));
});

it('says that artifacts are lost for which no store is named', async () => {
  await fill('with-artifacts');
  await program('export', 'artifacts.jsonl', ...at('with-artifacts'));
  const sessionsOnly = ['--session-service', 'sqlite:sessions-only.db'];

  expect(await program('import', 'artifacts.jsonl', ...sessionsOnly)).toMatchObject({
    code: 0,
    err: expect.stringMatching(
      /^2 sessions and 0 artifacts imported.*\nwarning: 4 artifacts were not imported, .*--artifact-service/,
    ),
  });
});

it('completes an import that was broken off when it is done once more', async () => {
  await fill('whole');
  const { out } = await program('export', ...at('whole'));
  const [session = '', artifact = ''] = out.split('\n');
  writeFileSync(join(cwd, 'broken.jsonl'), `${session}\n${artifact}\n{"session":`);
  writeFileSync(join(cwd, 'whole.jsonl'), out);

  expect((await program('import', 'broken.jsonl', ...at('half'))).code).toBe(1);
  expect((await program('import', 'whole.jsonl', ...at('half'))).code).toBe(0);

  expect((await program('export', ...at('half'))).out).toBe(out);
});

it('ends without a word when whoever reads an export has seen enough', async () => {
  await fill('long');
  const started = start(['export', ...at('long')], { cwd });
  started.stopReading();

  expect(await started.ended).toMatchObject({ code: 0, err: '' });
});

it('brings what ADK for Java has stored in Firestore, and says where that may be', async () => {
  const double = await FirestoreDouble.start();
  onTestFinished(() => double.close());
  const text = (stringValue: string): FirestoreValue => ({ stringValue });
  const owned = { appName: text('app'), userId: text('ada'), updateTime: text('2026-01-01T10:00:00Z') };
  double.keep('adk-session/ada/sessions/s1', { ...owned, id: text('s1'), state: { mapValue: {} } });
  const parts = { arrayValue: { values: [{ mapValue: { fields: { text: text('hi') } } }] } };
  const content = { mapValue: { fields: { parts } } };
  const said = { ...owned, author: text('ada'), timestamp: text('2026-01-01T10:00:00Z'), content };
  double.keep('adk-session/ada/sessions/s1/user-event/e1', said);
  const command = ['env', `FIRESTORE_EMULATOR_HOST=${double.host}`, process.execPath, mainFile];
  const from = start(['import', '--from', 'firestore-adk://test', ...at('java')], { cwd, command });
  from.end('');

  expect(await from.ended).toMatchObject({
    code: 0,
    err: '1 sessions and 0 artifacts imported; 0 existed already\n',
  });
  expect((await program('export', ...at('java'))).out).toContain('"text":"hi"');
  expect(await program('import', '--from', 'firestore:x', ...at('java'))).toMatchObject({
    code: 1,
    err: expect.stringContaining('must be firestore-adk://PROJECT/DATABASE?root=COLLECTION'),
  });
});

it('names the line that is no export, and a file that is not there', async () => {
  writeFileSync(join(cwd, 'odd.jsonl'), '\n{"session":{}}\n');

  expect(await program('import', 'odd.jsonl', ...at('three'))).toMatchObject({
    code: 1,
    err: expect.stringContaining('Line 2 is not a line of an export'),
  });
  expect((await program('import', 'none.jsonl', ...at('three'))).code).toBe(2);
});

it('makes the tables, says where, and keeps passwords to itself', async () => {
  const made = await program('migrate', ...at('four'));
  const refused = await program('migrate', '--session-service', 'postgres://ada:secret@127.0.0.1:1/db');

  expect(made).toMatchObject({ code: 0, err: expect.stringContaining('four.db is up to date') });
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('The database cannot be reached') });
  expect(refused.err).not.toContain('secret');
});

it('deletes what is beyond the limits, after a trial that deletes nothing', async () => {
  await fill('five');
  const gc = (...flags: string[]): Promise<Ended> => program('gc', ...flags, ...at('five'));

  const trial = (await gc('--max-sessions', '1', '--max-artifact-versions', '1', '--dry-run')).err;
  expect(trial).toBe(
    '1 sessions would be deleted\n1 versions of artifacts would be deleted\n0 runs would be deleted\n',
  );
  expect((await gc('--max-sessions', '1', '--max-artifact-versions', '1')).err).toBe(trial.replaceAll('would be ', ''));
  expect((await gc('--max-sessions', '1', '--run-ttl', 'never')).err).toBe('0 sessions deleted\n');
  expect((await gc()).err).toBe('0 runs deleted\n');
});

it('says which limits there are when none concerns what is kept', async () => {
  const refused = await Promise.all([
    program('gc', '--run-ttl', 'never', ...at('five')),
    program('gc', '--max-sessions', '1', '--artifact-service', 'file:five'),
    program('gc', '--max-sessions', '1'),
  ]);

  expect(refused.map(({ code }) => code)).toEqual([2, 2, 2]);
  const limits = '--artifact-version-ttl or --max-artifact-versions\n';
  expect(refused[0].err).toContain(`No limit is set: give --session-ttl or --max-sessions or ${limits}`);
  expect(refused[1].err).toContain(`No limit is set: give ${limits}`);
  expect(refused[2].err).toContain('There is no permanent store: name one');
});
