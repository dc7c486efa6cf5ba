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

/** The suites register their tests with vitest, which must be installed; nothing else here needs it. */
const suites: Suites | undefined = '__vitest_worker__' in globalThis ? await load() : undefined;

function suite<Name extends keyof Suites>(name: Name): Suites[Name] {
  if (suites) return suites[name];
  throw new AppError('not_supported', `"${name}" is a suite of vitest tests: call it in a test file that vitest runs`);
}

/** The contract of session stores. Outside vitest it throws `not_supported`, like the other suites. */
export const sessionServiceContract: Suites['sessionServiceContract'] = (...args) =>
  suite('sessionServiceContract')(...args);
/** The contract of artifact stores. */
export const artifactServiceContract: Suites['artifactServiceContract'] = (...args) =>
  suite('artifactServiceContract')(...args);
/** The contract of artifact stores with streams. */
export const artifactContentContract: Suites['artifactContentContract'] = (...args) =>
  suite('artifactContentContract')(...args);
/** The contract of artifact stores that delete old versions. */
export const artifactRetentionContract: Suites['artifactRetentionContract'] = (...args) =>
  suite('artifactRetentionContract')(...args);
/** The contract of memory services. */
export const memoryServiceContract: Suites['memoryServiceContract'] = (...args) =>
  suite('memoryServiceContract')(...args);
