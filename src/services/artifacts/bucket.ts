import { AppError } from '../../base/errors.ts';

/** What goes into a bucket beside the bytes of an object. */
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

/** What an artifact store needs of a bucket. All but `read` throw `unavailable` when it is out of reach or refuses us. */
export interface Bucket {
  /** `s3://BUCKET` or `gs://BUCKET`: an object's URI is this, a slash and its name. */
  readonly uri: string;
  /** Bytes of metadata that one object takes. */
  readonly maxMetadata: number;
  /** The objects whose names start with the prefix, sorted by them; `direct` leaves out those with a slash after it. */
  list(prefix: string, depth: 'all' | 'direct'): AsyncIterable<ListedObject>;
  find(name: string): Promise<FoundObject | undefined>;
  /** Stores what is not there yet: false when it is. */
  create(name: string, facts: ObjectFacts, bytes: Uint8Array): Promise<boolean>;
  /** Stores bytes of any number in the place of an object, all of them or none. Throws what `bytes` throws. */
  replace(name: string, facts: ObjectFacts, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** From `start` up to, not including, `end`, which is beyond it. Throws `artifact_not_found`. */
  read(name: string, range: { readonly start: number; readonly end: number }): AsyncIterable<Uint8Array>;
  /** Unknown names are no error. */
  delete(name: string): Promise<void>;
  check(): Promise<void>;
  close(): void;
}

/** Requests that are under way at once for one call. */
const atOnce = 16;

/** Does it for each item, some at once, and gives the results in order. */
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

/** What a caller sees of a bucket's failure. `status` is that of its answer, if there was one. */
export function bucketFailure(uri: string, error: unknown, status: number | undefined): unknown {
  if (error instanceof AppError || status === 400) return error;
  const what =
    status === 401 || status === 403 ? 'refuses the server' : status === 404 ? 'does not exist' : 'cannot be reached';
  return new AppError('unavailable', `The bucket ${uri} ${what}`, { cause: error, retryAfter });
}

/** The bytes, and what reading them threw: to be told apart from what sending them threw. */
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
      if (isReading) watch.failure = error; // or else a stream was destroyed, which throws into its source
      throw error;
    }
  })();
  return watch;
}
