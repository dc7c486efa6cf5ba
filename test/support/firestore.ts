import { afterAll, beforeAll, vi } from 'vitest';
import { FirestoreDatabase } from '../../src/services/firestore/database.ts';
import { cloudToken } from '../../src/tools/auth/machine-token.ts';
import { FirestoreDouble } from './firestore-double.ts';

/** A project whose database tests may fill; none: they run against a double. */
const realProject = process.env['TEST_FIRESTORE_PROJECT'];

export interface FirestoreForTests {
  /** The double, started before the tests of a file. */
  readonly double: FirestoreDouble;
  /** A connection of its own to collections that tests share; `prefix` makes others. */
  open(prefix?: string): FirestoreDatabase;
}

/** The real SDK against a double; against a real database with `TEST_FIRESTORE_PROJECT`. Call it at the top of a file. */
export function firestoreForTests(): FirestoreForTests {
  let double: FirestoreDouble | undefined;
  const shared = `test-${crypto.randomUUID()}`;
  beforeAll(async () => {
    if (realProject !== undefined) return;
    double = await FirestoreDouble.start();
    vi.stubEnv('FIRESTORE_EMULATOR_HOST', double.host);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await double?.close();
  });
  return {
    get double(): FirestoreDouble {
      if (!double) throw new Error('There is no double: the tests run against a real database');
      return double;
    },
    open: (prefix = shared) =>
      new FirestoreDatabase({ project: realProject ?? 'test', database: '(default)', prefix }, cloudToken()),
  };
}

export const isRealFirestore = realProject !== undefined;
