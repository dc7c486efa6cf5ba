import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname ?? '.', '..');
const bundler = join(root, 'node_modules/vite/bin/vite.js');

const server = {
  stamp: join(root, 'dist/.built'),
  tool: join(root, 'node_modules/rolldown/package.json'),
  inputs: ['src', 'bin/build-server.js', 'tsconfig.json', 'tsconfig.build.json', 'package.json'],
  args: [join(root, 'bin/build-server.js')],
};
/** It takes its types from the server's schemas, but no code: those need no new build of it. */
const userInterface = {
  stamp: join(root, 'dist/dev-ui/.built'),
  tool: bundler,
  inputs: ['dev-ui', 'package.json'],
  args: [bundler, 'build', 'dev-ui', '--logLevel', 'warn'],
};
/** What is built, each with a stamp that says when. An installed package has its build and no sources. */
const parts = existsSync(join(root, 'src')) ? [server, userInterface] : [];

/** @param {string} path */
const changedAt = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Every file below a path, or the path itself. @param {string} path @returns {string[]} */
const filesOf = (path) =>
  statSync(join(root, path), { throwIfNoEntry: false })?.isDirectory()
    ? readdirSync(join(root, path), { recursive: true, encoding: 'utf8' }).map((name) => join(path, name))
    : [path];

/** The parts whose sources are newer than their build, or that have none. */
const oldParts = () =>
  parts.filter(({ stamp, inputs }) => {
    const built = changedAt(stamp);
    return built === 0 || inputs.flatMap(filesOf).some((name) => changedAt(join(root, name)) > built);
  });

/** @param {{ args: string[], stamp: string }} part */
function make({ args, stamp }) {
  const { status, error } = spawnSync(process.execPath, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, NODE_ENV: 'production' }, // whatever the caller is: a test builds what users get
  });
  if (error) throw error;
  if (status !== 0) throw new Error('The sources could not be built');
  writeFileSync(stamp, '');
}

/**
 * Builds what is missing or old: `dist` from the sources, without checking their types (`npm run typecheck` does), and
 * the web UI. Says so, and builds nothing, where the tools are not installed. Throws when a tool finds something it
 * cannot translate.
 */
export function buildOld() {
  const old = oldParts();
  const without = old.filter(({ tool }) => !existsSync(tool));
  old.filter((part) => !without.includes(part)).forEach(make);
  if (without.some(({ stamp }) => stamp === userInterface.stamp)) {
    console.error('The web UI cannot be built: its tools are development packages. To install for production, run');
    console.error('npm ci, npm run build and npm prune --omit=dev.');
  }
  return { isServerBuilt: !without.some(({ stamp }) => stamp === server.stamp) };
}

// Run as a script after an install: one without the tools (production) has nothing to build with, and no need to.
// With `--old` it builds only what is old: for the tests.
if (process.argv[1] === import.meta.filename) {
  const wanted = process.argv.includes('--old') ? oldParts() : parts;
  wanted.filter(({ tool }) => existsSync(tool)).forEach(make);
}
