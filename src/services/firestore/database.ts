import type * as Sdk from '@google-cloud/firestore';
import { AppError } from '../../base/errors.ts';
import { GoogleConnection, type GoogleToken } from '../google/google-connection.ts';
import { optionalPackage } from '../optional-package.ts';

/** A database, and the prefix of our collections in it. */
export interface FirestorePlace {
  readonly project: string;
  readonly database: string;
  readonly prefix: string;
}

/** An opened database. */
export interface OpenFirestore {
  readonly sdk: typeof Sdk;
  readonly db: Sdk.Firestore;
  /** One of our root collections. */
  readonly collection: (name: string) => Sdk.CollectionReference;
}

/**
 * A Firestore database, opened on first use. The SDK uses HTTP through our own `fetch`: by itself it would leave unhandled
 * rejections without a credential, and repeat failed requests for minutes.
 */
export class FirestoreDatabase {
  readonly #place: FirestorePlace;
  readonly #connection: GoogleConnection;
  #opened: Promise<OpenFirestore> | undefined;

  /** The token is not sent to an emulator (`FIRESTORE_EMULATOR_HOST`). */
  constructor(place: FirestorePlace, token?: GoogleToken) {
    this.#place = place;
    this.#connection = new GoogleConnection({
      what: `The Firestore database "${place.project}/${place.database}"`,
      token,
    });
  }

  /** Runs `act` with the database. Throws `unavailable` when it is unreachable. */
  async run<Result>(act: (open: OpenFirestore) => Promise<Result>): Promise<Result> {
    this.#opened ??= this.#open();
    try {
      return await act(await this.#opened);
    } catch (error) {
      throw outageIn(error) ?? this.#missing(error) ?? tooLarge(error) ?? error;
    }
  }

  /** The same for idempotent work: repeats it for some seconds while the database is unreachable. */
  retryWhileUnavailable<Result>(act: (open: OpenFirestore) => Promise<Result>): Promise<Result> {
    return this.#connection.retryWhileUnavailable(() => this.run(act));
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
      // The SDK treats this status as cancelled, which it does not retry.
      throw Object.assign(error as Error, { status: 499 });
    }
  }
}

const notFound = 5;
const alreadyExists = 6;
const failedPrecondition = 9;
const aborted = 10;

/** The gRPC status in an error of the SDK. */
export function codeOf(error: unknown): number | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'number' ? code : undefined;
}

/** Whether the write failed because of a concurrent write. */
export const isConflict = (error: unknown): boolean =>
  [notFound, alreadyExists, failedPrecondition, aborted].includes(codeOf(error) ?? -1);

const invalidArgument = 3;

function tooLarge(error: unknown): AppError | undefined {
  if (codeOf(error) !== invalidArgument || !/maximum|too large|longer than/i.test((error as Error).message)) {
    return undefined;
  }
  return new AppError('too_large', 'This is more than a Firestore document takes (1 MiB)', { cause: error });
}

/** The error of our own `fetch`, which the SDK wraps. */
function outageIn(error: unknown): AppError | undefined {
  for (let inner = error, depth = 0; inner instanceof Error && depth < 5; inner = inner.cause, depth += 1) {
    if (inner instanceof AppError) return inner;
  }
  return undefined;
}
