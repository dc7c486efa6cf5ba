import { AppError } from '../base/errors.ts';
import type * as content from './contracts/artifact-content.ts';
import type * as retention from './contracts/artifact-retention.ts';
import type * as artifacts from './contracts/artifacts.ts';
import type * as memories from './contracts/memories.ts';
import type * as sessions from './contracts/sessions.ts';

type Suites = typeof sessions & typeof artifacts & typeof content & typeof retention & typeof memories;

const load = async (): Promise<Suites> => ({
  ...(await import('./contracts/sessions.ts')),
  ...(await import('./contracts/artifacts.ts')),
  ...(await import('./contracts/artifact-content.ts')),
  ...(await import('./contracts/artifact-retention.ts')),
  ...(await import('./contracts/memories.ts')),
});

/** The suites register their tests with vitest while a test file is collected, so it has to be there; nothing else here needs it. */
const suites: Suites | undefined = '__vitest_worker__' in globalThis ? await load() : undefined;

function suite<Name extends keyof Suites>(name: Name): Suites[Name] {
  if (suites) return suites[name];
  throw new AppError('not_supported', `"${name}" is a suite of vitest tests: call it in a test file that vitest runs`);
}

/** What every session store promises. Outside of vitest it throws `not_supported`, as the other suites do. */
export const sessionServiceContract: Suites['sessionServiceContract'] = (...args) =>
  suite('sessionServiceContract')(...args);
/** What every artifact store promises. */
export const artifactServiceContract: Suites['artifactServiceContract'] = (...args) =>
  suite('artifactServiceContract')(...args);
/** What artifact stores promise that stream. */
export const artifactContentContract: Suites['artifactContentContract'] = (...args) =>
  suite('artifactContentContract')(...args);
/** What artifact stores promise that delete old versions. */
export const artifactRetentionContract: Suites['artifactRetentionContract'] = (...args) =>
  suite('artifactRetentionContract')(...args);
/** What every memory promises. */
export const memoryServiceContract: Suites['memoryServiceContract'] = (...args) =>
  suite('memoryServiceContract')(...args);
