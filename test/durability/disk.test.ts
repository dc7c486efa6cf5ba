import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, it } from 'vitest';
import { openServices } from '../../src/services/open-services.ts';
import { saying } from '../../src/testing/contracts/events.ts';

const folder = mkdtempSync(join(tmpdir(), 'agent-disk-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Appends until the disk takes no more, then reads: in a program, because the limit on its files is the program's. */
const program = (path: string): string => `
  import { openServices } from ${JSON.stringify(new URL('../../src/services/open-services.ts', import.meta.url).pathname)};
  import { saying } from ${JSON.stringify(new URL('../../src/testing/contracts/events.ts', import.meta.url).pathname)};
  const uri = ${JSON.stringify(`sqlite:${path}`)};
  const { sessions } = openServices({ sessionService: uri, artifactService: 'memory:', memoryService: 'memory:' });
  const owner = { appName: 'disk', userId: 'ada' };
  const session = await sessions.createSession(owner, { sessionId: 's1' });
  const append = () => sessions.appendEvent(session, saying('x'.repeat(3000))).then(() => undefined, (error) => error);
  let failure;
  let stored = -1;
  while (!failure) {
    failure = await append();
    stored += 1;
  }
  const again = await append();
  const read = (await sessions.getSession({ ...owner, sessionId: 's1' })).events.length;
  const { code, retryAfter } = failure;
  console.log(JSON.stringify({ stored, code, retryAfter, again: again.code, read }));
`;

it('answers that it is unavailable when the disk takes no more, tears nothing, and goes on when it does', async () => {
  const path = join(folder, 'full.db');
  // The shell's limit on files of a program, in blocks of 1,024 bytes, stands for the end of a disk.
  const shell = `ulimit -f 600; trap '' XFSZ; exec "$0" --input-type=module-typescript --eval "$1"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', shell, process.execPath, program(path)], { encoding: 'utf8' });
  const said = JSON.parse(stdout || JSON.stringify({ stderr })) as { stored: number };

  expect(said).toMatchObject({ code: 'unavailable', retryAfter: 2, again: 'unavailable', read: said.stored });
  expect(said.stored).toBeGreaterThan(0);
  const file = new DatabaseSync(path);
  expect({ ...file.prepare('pragma integrity_check').get() }).toEqual({ integrity_check: 'ok' });
  file.close();

  const { sessions, databases } = openServices({
    sessionService: `sqlite:${path}`,
    artifactService: 'memory:',
    memoryService: 'memory:',
  });
  const session = (await sessions.getSession({ appName: 'disk', userId: 'ada', sessionId: 's1' }))!;
  await sessions.appendEvent(session, saying('there is room again'));
  expect(session.events).toHaveLength(said.stored + 1);
  await databases.close();
});
