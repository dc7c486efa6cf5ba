import { AppError } from '../../../base/errors.ts';

/** The properties of an object, besides its bytes. */
export interface ObjectFacts {
  readonly contentType: string;
  /** ASCII only. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** An object as its bucket describes it. */
export interface FoundObject extends ObjectFacts {
  readonly size: number;
  /** Seconds since the epoch. */
  readonly createTime: number;
}

export interface ListedObject {
  readonly name: string;
  readonly size: number;
  /** Seconds since the epoch. */
  readonly createTime: number;
}

/** The bucket operations of an artifact store. All but `read` throw `unavailable` when the bucket is unreachable or denies access. */
export interface Bucket {
  /** `s3://BUCKET` or `gs://BUCKET`: an object's URI is this, a slash and its name. */
  readonly uri: string;
  /** Bytes of metadata per object. */
  readonly maxMetadata: number;
  /** The objects whose names start with the prefix, sorted by name; `direct` excludes names with a slash after the prefix. */
  list(prefix: string, depth: 'all' | 'direct'): AsyncIterable<ListedObject>;
  find(name: string): Promise<FoundObject | undefined>;
  /** Stores a new object. Returns false if the name exists. */
  create(name: string, facts: ObjectFacts, bytes: Uint8Array): Promise<boolean>;
  /** Replaces an object atomically, with any number of bytes. Throws what `bytes` throws. */
  replace(name: string, facts: ObjectFacts, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** The bytes from `start` to before `end`, which is greater. Throws `artifact_not_found`. */
  read(name: string, range: { readonly start: number; readonly end: number }): AsyncIterable<Uint8Array>;
  /** An unknown name is no error. */
  delete(name: string): Promise<void>;
  check(): Promise<void>;
  close(): void;
}

/** Parallel requests of one call. */
const atOnce = 16;

/** Maps the items with limited parallelism. Returns the results in order. */
export async function each<Item, Result>(
  items: readonly Item[],
  act: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < items.length; at += atOnce) {
    results.push(...(await Promise.all(items.slice(at, at + atOnce).map(act))));
  }
  return results;
}

/** Seconds after which a client may try again. */
export const retryAfter = 2;

/** The error for clients of a failed request. `status` is that of the bucket's response, if there was one. */
export function bucketFailure(uri: string, error: unknown, status: number | undefined): unknown {
  if (error instanceof AppError || status === 400) return error;
  const what =
    status === 401 || status === 403 ? 'refuses the server' : status === 404 ? 'does not exist' : 'cannot be reached';
  return new AppError('unavailable', `The bucket ${uri} ${what}`, { cause: error, retryAfter });
}

/** The bytes, and the error that reading them threw, to distinguish it from an error of sending. */
export function watched(bytes: AsyncIterable<Uint8Array>): { bytes: AsyncIterable<Uint8Array>; failure: unknown } {
  const watch: { bytes: AsyncIterable<Uint8Array>; failure: unknown } = { bytes, failure: undefined };
  watch.bytes = (async function* () {
    let isReading = true;
    try {
      for await (const chunk of bytes) {
        isReading = false;
        yield chunk;
        isReading = true;
      }
    } catch (error) {
      if (isReading) watch.failure = error; // otherwise the stream was destroyed, which throws into its source
      throw error;
    }
  })();
  return watch;
}
