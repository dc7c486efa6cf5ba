import type * as Sdk from '@google-cloud/firestore';
import { AppError } from '../../base/errors.ts';
import { GoogleConnection, type GoogleToken } from '../google/google-connection.ts';
import { optionalPackage } from '../optional-package.ts';

/** Which database, and what the names of our collections in it begin with. */
export interface FirestorePlace {
  readonly project: string;
  readonly database: string;
  readonly prefix: string;
}

/** An opened database. */
export interface OpenFirestore {
  readonly sdk: typeof Sdk;
  readonly db: Sdk.Firestore;
  /** A collection of ours at the root. */
  readonly collection: (name: string) => Sdk.CollectionReference;
}

/**
 * A Firestore database, opened on first use. The SDK speaks HTTP, so that every request is ours: without a credential it
 * leaves rejections behind that nobody handles, and it repeats failed requests for minutes.
 */
export class FirestoreDatabase {
  readonly #place: FirestorePlace;
  readonly #connection: GoogleConnection;
  #opened: Promise<OpenFirestore> | undefined;

  /** An emulator (`FIRESTORE_EMULATOR_HOST`) is asked without the token. */
  constructor(place: FirestorePlace, token?: GoogleToken) {
    this.#place = place;
    this.#connection = new GoogleConnection({
      what: `The Firestore database "${place.project}/${place.database}"`,
      token,
    });
  }

  /** Does something with the database. Throws `unavailable` when it is out of reach. */
  async run<Result>(act: (open: OpenFirestore) => Promise<Result>): Promise<Result> {
    this.#opened ??= this.#open();
    try {
      return await act(await this.#opened);
    } catch (error) {
      throw outageIn(error) ?? this.#missing(error) ?? tooLarge(error) ?? error;
    }
  }

  /** The same for what may be repeated: it is, for some seconds, while the database is out of reach. */
  insist<Result>(act: (open: OpenFirestore) => Promise<Result>): Promise<Result> {
    return this.#connection.insist(() => this.run(act));
  }

  pause(ms: number): Promise<void> {
    return this.#connection.pause(ms);
  }

  async check(): Promise<void> {
    await this.run(({ collection }) => collection('apps').doc('check').get());
  }

  async close(): Promise<void> {
    this.#connection.close();
    const opened = await this.#opened?.catch(() => undefined);
    await opened?.db.terminate();
  }

  #missing(error: unknown): AppError | undefined {
    if (codeOf(error) !== notFound || !/database .*does not exist/i.test((error as Error).message)) return undefined;
    const { project, database } = this.#place;
    return new AppError('unavailable', `There is no Firestore database "${project}/${database}"`, { cause: error });
  }

  async #open(): Promise<OpenFirestore> {
    const sdk = await optionalPackage('@google-cloud/firestore', () => import('@google-cloud/firestore'));
    const { project, database, prefix } = this.#place;
    const db = new sdk.Firestore({
      projectId: project,
      databaseId: database,
      preferRest: true,
      authClient: {
        universeDomain: 'googleapis.com',
        getRequestHeaders: async () => new Headers(),
        fetch: (url: string, init: RequestInit) => this.#fetch(url, init),
      },
    });
    return { sdk, db, collection: (name) => db.collection(`${prefix}_${name}`) };
  }

  async #fetch(url: string, { method, headers, body }: RequestInit): Promise<Response> {
    try {
      return await this.#connection.fetch(url, {
        ...(method !== undefined && { method }),
        ...(headers !== undefined && { headers }),
        ...(body !== undefined && { body }),
      });
    } catch (error) {
      // By this status the SDK takes it for cancelled, which is what it does not repeat.
      throw Object.assign(error as Error, { status: 499 });
    }
  }
}

const notFound = 5;
const alreadyExists = 6;
const failedPrecondition = 9;
const aborted = 10;

/** The gRPC status the SDK reports. */
export function codeOf(error: unknown): number | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'number' ? code : undefined;
}

/** Whether nothing was written because of what others wrote. */
export const isConflict = (error: unknown): boolean =>
  [notFound, alreadyExists, failedPrecondition, aborted].includes(codeOf(error) ?? -1);

const invalidArgument = 3;

function tooLarge(error: unknown): AppError | undefined {
  if (codeOf(error) !== invalidArgument || !/maximum|too large|longer than/i.test((error as Error).message)) {
    return undefined;
  }
  return new AppError('too_large', 'This is more than a Firestore document takes (1 MiB)', { cause: error });
}

/** What our own `fetch` threw, which the SDK wraps. */
function outageIn(error: unknown): AppError | undefined {
  for (let inner = error, depth = 0; inner instanceof Error && depth < 5; inner = inner.cause, depth += 1) {
    if (inner instanceof AppError) return inner;
  }
  return undefined;
}
