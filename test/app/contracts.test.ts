import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

const project = mkdtempSync(join(tmpdir(), 'agent-store-'));
const build = join(project, 'node_modules/agent-server/dist');
afterAll(() => rmSync(project, { recursive: true, force: true }));

/** A project of somebody else, with this package as it is when it is built. */
beforeAll(() => {
  cpSync('dist', build, { recursive: true });
  for (const name of ['vitest', 'zod'])
    symlinkSync(join(process.cwd(), 'node_modules', name), join(project, 'node_modules', name));
  cpSync('package.json', join(project, 'node_modules/agent-server/package.json'));
  symlinkSync(join(process.cwd(), 'node_modules'), join(project, 'node_modules/agent-server/node_modules'));
  mkdirSync(join(project, 'test'));
});

const store = (promise: string): string => `
  import { InMemorySessions, sessionServiceContract } from 'agent-server/testing';
  class Mine extends InMemorySessions { ${promise} }
  sessionServiceContract('Mine', () => new Mine());
`;

it('holds stores that others write to the same promises', { timeout: 60_000 }, () => {
  writeFileSync(join(project, 'test/good.test.js'), store(''));
  writeFileSync(join(project, 'test/bad.test.js'), store('async listSessions() { return []; }'));
  const run = (name: string) =>
    spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', '--root', project, `test/${name}.test.js`], {
      cwd: project,
      encoding: 'utf8',
    });

  const [good, bad] = [run('good'), run('bad')];

  expect(good.stdout + good.stderr).not.toContain('failed');
  expect(good.status).toBe(0);
  expect(bad.status).toBe(1);
  expect(bad.stdout).toContain('lists sessions without their events');
});
