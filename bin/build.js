import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname ?? '.', '..');
const compiler = join(root, 'node_modules/typescript/bin/tsc');
const stamp = join(root, 'dist/.built');

/** @param {string} path */
const changedAt = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Whether a source is newer than the build, or there is none. An installed package has its build and no sources. */
export function isOld() {
  if (!existsSync(join(root, 'src'))) return false;
  const built = changedAt(stamp);
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  const inputs = [...sources.map((name) => join('src', name)), 'tsconfig.json', 'tsconfig.build.json', 'package.json'];
  return built === 0 || inputs.some((name) => changedAt(join(root, name)) > built);
}

/**
 * Translates the sources to `dist`, without checking their types (`npm run typecheck` does). Throws when the compiler
 * is not installed or finds something it cannot translate.
 */
export function build() {
  const { status, error } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--noCheck'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (error) throw error;
  if (status !== 0) throw new Error('The sources could not be built');
  writeFileSync(stamp, '');
}

// Run as a script after an install: one without the compiler (production) has nothing to build with, and no need to.
if (process.argv[1] === import.meta.filename && existsSync(compiler)) build();
