import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

const project = mkdtempSync(join(tmpdir(), 'agent-store-'));
const suites = join(project, 'node_modules/agent-server/dist/suites');
afterAll(() => rmSync(project, { recursive: true, force: true }));

/** A project of somebody else, with the suites as this package has them when it is built. */
beforeAll(() => {
  const compiler = 'node_modules/typescript/bin/tsc';
  const args = [compiler, '-p', 'tsconfig.contracts.json', '--noCheck', '--outDir', suites];
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (status !== 0) throw new Error('The suites could not be built');
  for (const name of ['vitest', 'zod'])
    symlinkSync(join(process.cwd(), 'node_modules', name), join(project, 'node_modules', name));
  for (const name of ['package.json', 'src']) {
    symlinkSync(join(process.cwd(), name), join(project, 'node_modules/agent-server', name));
  }
  mkdirSync(join(project, 'test'));
});

const store = (promise: string): string => `
  import { sessionServiceContract } from 'agent-server/contracts/sessions';
  import { InMemorySessions } from ${JSON.stringify(join(process.cwd(), 'src/services/sessions/in-memory.ts'))};
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
