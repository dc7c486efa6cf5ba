// Builds the server into `dist`, or into the folder given as an argument: declarations with TypeScript, and the code in
// a few files instead of 600, with what is used of zod among them. Each file that is not loaded saves 0.5 ms and 0.1 MB.
// What the entries share is in files that they share, so that a class is the same class in all of them.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { rolldown } from 'rolldown';

const root = join(import.meta.dirname ?? '.', '..');
const out = process.argv[2] ?? join(root, 'dist');

const contracts = readdirSync(join(root, 'src/testing/contracts')).map((name) => name.replace(/\.ts$/, ''));
/** What others import, as it lies in `src` and in `dist`. */
const published = ['index', 'server/index', 'testing/index', ...contracts.map((name) => `testing/contracts/${name}`)];
/** What threads and processes start with. It lies beside the code that looks for it there. */
const workers = [
  'code/javascript/javascript-worker',
  'code/python/python-process',
  'code/python/python-worker',
  'services/sqlite/writer-thread',
];

/** The code of a published file: `server/index` is in `chunks/server-index.js`. */
const chunkOf = (/** @type {string} */ name) => `chunks/${name.replaceAll('/', '-')}`;
const source = (/** @type {string} */ name) => join(root, `src/${name}.ts`);

/**
 * A file of several modules is named after the folder, or the package, that most of them come from, so that stack traces say
 * where to look. With `node --enable-source-maps` they name the sources.
 * @param {{ name: string, moduleIds: string[] }} chunk
 */
function fileNameOf({ name, moduleIds }) {
  if (moduleIds.length === 1) return `chunks/${name}.js`;
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const id of moduleIds) {
    const folder = /\/(?:src|node_modules)\/([\w-]+)\/(?!.*\/node_modules\/)/.exec(id)?.[1] ?? name;
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  const [[most] = [name]] = [...counts].toSorted(([, one], [, other]) => other - one);
  return `chunks/${most}.js`;
}

mkdirSync(out, { recursive: true });
// The web UI has a build of its own.
for (const name of readdirSync(out)) if (name !== 'dev-ui') rmSync(join(out, name), { recursive: true });

const compiler = join(root, 'node_modules/typescript/bin/tsc');
const options = ['-p', join(root, 'tsconfig.build.json'), '--noCheck', '--outDir', out];
const { status } = spawnSync(process.execPath, [compiler, ...options], { stdio: 'inherit' });
if (status !== 0) process.exit(1);

const bundle = await rolldown({
  input: {
    main: source('main'),
    ...Object.fromEntries(published.map((name) => [chunkOf(name), source(name)])),
    ...Object.fromEntries(workers.map((name) => [`chunks/${name.slice(name.lastIndexOf('/') + 1)}`, source(name)])),
  },
  platform: 'node',
  external: (id) => /^[@\w]/.test(id) && id !== 'zod',
});
// All code lies one folder deep, as in `src`: addresses relative to a file lead to the same places.
await bundle.write({ dir: out, chunkFileNames: fileNameOf, sourcemap: true, comments: { legal: true } });
await bundle.close();

for (const name of published) {
  const up = '../'.repeat(name.split('/').length - 1) || './';
  mkdirSync(join(out, dirname(name)), { recursive: true });
  writeFileSync(join(out, `${name}.js`), `export * from '${up}${chunkOf(name)}.js';\n`);
}
copyFileSync(join(root, 'node_modules/zod/LICENSE'), join(out, 'chunks/zod.LICENSE'));
