import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** A copy of what npm would find in a checkout, with all dependencies and without a build. */
function checkout(): string {
  const folder = mkdtempSync(join(tmpdir(), 'checkout-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ['package.json', 'bin', 'src', 'schema'])
    cpSync(join(root, name), join(folder, name), { recursive: true });
  return folder;
}

it('says which Node.js it needs before anything else is loaded', () => {
  const folder = checkout();
  writeFileSync(
    join(folder, 'old-node.cjs'),
    "Object.defineProperty(process.versions, 'node', { value: '20.11.0' });\n",
  );
  for (const file of ['bin/agent-server.cjs', 'bin/start.js']) {
    const run = (): string =>
      execFileSync(process.execPath, ['-r', './old-node.cjs', file], { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
    expect(run).toThrow(/agent-server needs Node\.js 24 or newer, and this is Node\.js 20\.11\.0/);
  }
});

it('starts from its sources where nothing can be built, and npm start ends with SIGTERM', async () => {
  const folder = checkout();
  cpSync(join(root, 'agents'), join(folder, 'agents'), { recursive: true });
  // What a production install has: everything but the tools.
  mkdirSync(join(folder, 'node_modules'));
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (['typescript', 'rolldown', 'vite', '.bin'].includes(name)) continue;
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  }
  const { PATH = '', HOME } = process.env;
  const child = spawn('npm', ['start', '--', '--port', '0'], {
    cwd: folder,
    env: { PATH: `${join(process.execPath, '..')}:${PATH}`, HOME },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  const listening = Promise.withResolvers<void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data: Buffer) => {
      said += data.toString();
      if (said.includes('"listening"')) listening.resolve();
    });
  }
  await listening.promise;
  const url = /API\s+(\S+)/.exec(said)?.[1] ?? '';
  expect((await fetch(`${url}/health`)).status).toBe(200);
  child.kill('SIGTERM');
  await once(child, 'close'); // both streams, too: nobody holds them any more

  expect(said).toContain('The web UI cannot be built: its tools are development packages.');
  expect(said).toContain('"ended"');
  await expect(fetch(`${url}/health`)).rejects.toThrow('fetch failed');
}, 60_000);
