import { spawnSync } from 'node:child_process';

/** Before any test: the tests of the web UI look at what a user gets, so it is built when it is missing or old. */
export function setup(): void {
  const { status } = spawnSync(process.execPath, ['bin/build.js', '--ui'], { stdio: 'inherit' });
  if (status !== 0) throw new Error('The web UI could not be built');
}
