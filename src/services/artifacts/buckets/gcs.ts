import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type * as Sdk from '@google-cloud/storage';
import { abortable } from '../../../base/abort.ts';
import { AppError } from '../../../base/errors.ts';
import { optionalPackage } from '../../optional-package.ts';
import {
  type Bucket,
  bucketFailure,
  type FoundObject,
  type ListedObject,
  type ObjectFacts,
  watched,
} from './bucket.ts';
import { sendWithIdleTimeout, idleTimeoutMs, readWithIdleTimeout } from './idle-timeout.ts';

/** The minimum upload speed from memory, in bytes per millisecond. The SDK would wait for ever. */
const slowest = 100;

/**
 * A bucket of Google Cloud Storage. Credentials come from the environment, as in all Google tools; none are used with
 * `STORAGE_EMULATOR_HOST`.
 */
export class GoogleBucket implements Bucket {
  readonly uri: string;
  readonly maxMetadata = 8000;
  readonly #name: string;
  readonly #idleTimeoutMs: number;
  #opened: Promise<Sdk.Bucket> | undefined;

  constructor(name: string, limitMs = idleTimeoutMs) {
    this.#name = name;
    this.#idleTimeoutMs = limitMs;
    this.uri = `gs://${name}`;
  }

  async *list(prefix: string, depth: 'all' | 'direct'): AsyncGenerator<ListedObject, void, void> {
    const request = {
      prefix,
      fields: 'items(name,size,timeCreated),nextPageToken',
      autoPaginate: false,
      ...(depth === 'direct' && { delimiter: '/' }),
    };
    for (let pageToken: string | undefined; ;) {
      const page = pageToken;
      const [files, next] = await this.#try((bucket) =>
        bucket.getFiles({ ...request, ...(page !== undefined && { pageToken: page }) }),
      );
      // With selected fields, the SDK returns the raw response, not the files that its types declare.
      for (const { name = '', size = 0, timeCreated = '' } of files as unknown as Sdk.FileMetadata[]) {
        yield { name, size: Number(size), createTime: Date.parse(timeCreated) / 1000 };
      }
      pageToken = (next as { pageToken?: string } | null)?.pageToken;
      if (pageToken === undefined) return;
    }
  }

  async find(name: string): Promise<FoundObject | undefined> {
    return this.#try(async (bucket) => {
      try {
        const [found] = await bucket.file(name).getMetadata();
        const metadata = Object.entries(found.metadata ?? {}).map(([key, value]) => [key, String(value ?? '')]);
        return {
          contentType: found.contentType ?? 'application/octet-stream',
          metadata: Object.fromEntries(metadata) as Record<string, string>,
          size: Number(found.size ?? 0),
          createTime: Date.parse(found.timeCreated ?? '') / 1000,
        };
      } catch (error) {
        if (statusOf(error) === 404) return undefined;
        throw error;
      }
    });
  }

  async create(name: string, facts: ObjectFacts, bytes: Uint8Array): Promise<boolean> {
    return this.#try(async (bucket) => {
      try {
        const preconditionOpts = { ifGenerationMatch: 0 };
        const limit = AbortSignal.timeout(this.#idleTimeoutMs + Math.ceil(bytes.length / slowest));
        await abortable(bucket.file(name).save(Buffer.from(bytes), { ...uploadOf(facts), preconditionOpts }), limit);
        return true;
      } catch (error) {
        if (statusOf(error) === 412) return false;
        throw error;
      }
    });
  }

  async replace(name: string, facts: ObjectFacts, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const watch = watched(bytes);
    try {
      await this.#try((bucket) =>
        sendWithIdleTimeout(watch.bytes, this.#idleTimeoutMs, (sent, signal) =>
          pipeline(Readable.from(sent), bucket.file(name).createWriteStream(uploadOf(facts)), { signal }),
        ),
      );
    } catch (error) {
      throw watch.failure ?? error;
    }
  }

  async *read(name: string, { start, end }: { start: number; end: number }): AsyncGenerator<Uint8Array, void, void> {
    const body = await this.#try(async (bucket) =>
      // Compressed objects are not decompressed: the range refers to the stored bytes.
      bucket.file(name).createReadStream({ start, end: end - 1, validation: false, decompress: false }),
    );
    try {
      yield* readWithIdleTimeout(body, this.#idleTimeoutMs);
    } catch (error) {
      // 416: the object was replaced by a shorter one.
      if (![404, 416].includes(statusOf(error) ?? 0)) throw bucketFailure(this.uri, error, statusOf(error));
      throw new AppError('artifact_not_found', 'The artifact was deleted while it was read', { cause: error });
    }
  }

  async delete(name: string): Promise<void> {
    await this.#try((bucket) => bucket.file(name).delete({ ignoreNotFound: true }));
  }

  async check(): Promise<void> {
    await this.#try((bucket) => bucket.getFiles({ maxResults: 1, autoPaginate: false }));
  }

  close(): void {
    // The SDK holds no resources between requests.
    this.#opened = undefined;
  }

  async #try<Result>(act: (bucket: Sdk.Bucket) => Promise<Result>): Promise<Result> {
    try {
      this.#opened ??= this.#open();
      return await act(await this.#opened);
    } catch (error) {
      throw bucketFailure(this.uri, error, statusOf(error));
    }
  }

  async #open(): Promise<Sdk.Bucket> {
    const { Storage } = await optionalPackage('@google-cloud/storage', () => import('@google-cloud/storage'));
    // A client waits, so failed requests are not retried for the SDK's default of ten minutes.
    return new Storage({ retryOptions: { maxRetries: 2, totalTimeout: 5 } }).bucket(this.#name);
  }
}

/** One request. The bucket stores the object only when all bytes have arrived and their digest is right. */
const uploadOf = ({ contentType, metadata }: ObjectFacts): Sdk.CreateWriteStreamOptions => ({
  resumable: false,
  validation: 'md5',
  metadata: { contentType, metadata: { ...metadata } },
});

function statusOf(error: unknown): number | undefined {
  const code = error instanceof Error && 'code' in error ? Number(error.code) : Number.NaN;
  return Number.isNaN(code) ? undefined : code;
}
