import { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type * as Sdk from '@aws-sdk/client-s3';
import { AppError } from '../../../base/errors.ts';
import { optionalPackage } from '../../optional-package.ts';
import {
  type Bucket,
  bucketFailure,
  type FoundObject,
  type ListedObject,
  type ObjectFacts,
  retryAfter,
  watched,
} from './bucket.ts';
import { idleTimeoutMs, readWithIdleTimeout } from './idle-timeout.ts';

export interface S3Place {
  readonly bucket: string;
  /** The URL of an S3-compatible service. Then buckets are part of the path, and only commonly supported options are sent. */
  readonly endpoint?: string | undefined;
  /** Default: that of the environment, else `us-east-1`. */
  readonly region?: string | undefined;
  /** Default 30,000. */
  readonly idleTimeoutMs?: number;
}

interface Opened {
  readonly sdk: typeof Sdk;
  readonly client: Sdk.S3Client;
}

/** Bytes per part of an upload, and parts in memory at once. */
const partSize = 8 * 1024 * 1024;
const partsAtOnce = 2;

/** A bucket of Amazon S3 or of a service with its API. Credentials come from the environment, as in all AWS tools. */
export class S3Bucket implements Bucket {
  readonly uri: string;
  readonly maxMetadata = 2000;
  readonly #place: S3Place;
  #opened: Promise<Opened> | undefined;

  constructor(place: S3Place) {
    this.#place = place;
    this.uri = `s3://${place.bucket}`;
  }

  async *list(prefix: string, depth: 'all' | 'direct'): AsyncGenerator<ListedObject, void, void> {
    const request = { Bucket: this.#place.bucket, Prefix: prefix, ...(depth === 'direct' && { Delimiter: '/' }) };
    for (let token: string | undefined; ;) {
      const ContinuationToken = token;
      const page = await this.#try(({ sdk, client }) =>
        client.send(new sdk.ListObjectsV2Command({ ...request, ContinuationToken })),
      );
      for (const { Key: name = '', Size: size = 0, LastModified } of page.Contents ?? []) {
        yield { name, size, createTime: secondsOf(LastModified) };
      }
      token = page.NextContinuationToken;
      if (token === undefined) return;
    }
  }

  async find(name: string): Promise<FoundObject | undefined> {
    return this.#try(async ({ sdk, client }) => {
      try {
        const head = await client.send(new sdk.HeadObjectCommand({ Bucket: this.#place.bucket, Key: name }));
        return {
          contentType: head.ContentType ?? 'application/octet-stream',
          metadata: head.Metadata ?? {},
          size: head.ContentLength ?? 0,
          createTime: secondsOf(head.LastModified),
        };
      } catch (error) {
        if (statusOf(error) === 404) return undefined;
        throw error;
      }
    });
  }

  async create(name: string, { contentType, metadata }: ObjectFacts, bytes: Uint8Array): Promise<boolean> {
    return this.#try(async ({ sdk, client }) => {
      try {
        const request = { Bucket: this.#place.bucket, Key: name, ContentType: contentType, Metadata: metadata };
        await client.send(new sdk.PutObjectCommand({ ...request, Body: bytes, IfNoneMatch: '*' }));
        return true;
      } catch (error) {
        // 409: another request is creating it.
        if ([409, 412].includes(statusOf(error) ?? 0)) return false;
        throw error;
      }
    });
  }

  async replace(name: string, { contentType, metadata }: ObjectFacts, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const watch = watched(bytes);
    const body = Readable.from(watch.bytes);
    try {
      await this.#try(async ({ client }) => {
        const { Upload } = await optionalPackage('@aws-sdk/lib-storage', () => import('@aws-sdk/lib-storage'));
        const params = { Bucket: this.#place.bucket, Key: name, ContentType: contentType, Metadata: metadata };
        await new Upload({ client, params: { ...params, Body: body }, partSize, queueSize: partsAtOnce }).done();
      });
    } catch (error) {
      throw watch.failure ?? error;
    } finally {
      body.destroy();
    }
  }

  async *read(name: string, { start, end }: { start: number; end: number }): AsyncGenerator<Uint8Array, void, void> {
    const body = await this.#try(async ({ sdk, client }) => {
      try {
        const Range = `bytes=${start}-${end - 1}`;
        const answer = await client.send(new sdk.GetObjectCommand({ Bucket: this.#place.bucket, Key: name, Range }));
        return answer.Body as Readable;
      } catch (error) {
        if (![404, 416].includes(statusOf(error) ?? 0)) throw error; // 416: the object was replaced by a shorter one
        throw new AppError('artifact_not_found', 'The artifact was deleted while it was read', { cause: error });
      }
    });
    try {
      yield* readWithIdleTimeout(body, this.#place.idleTimeoutMs ?? idleTimeoutMs);
    } catch (error) {
      throw bucketFailure(this.uri, error, statusOf(error));
    }
  }

  async delete(name: string): Promise<void> {
    await this.#try(({ sdk, client }) =>
      client.send(new sdk.DeleteObjectCommand({ Bucket: this.#place.bucket, Key: name })),
    );
  }

  async check(): Promise<void> {
    await this.#try(({ sdk, client }) =>
      client.send(new sdk.ListObjectsV2Command({ Bucket: this.#place.bucket, MaxKeys: 1 })),
    );
  }

  close(): void {
    // A client that could not be created has nothing to release.
    void this.#opened?.then(
      ({ client }) => client.destroy(),
      () => {},
    );
    this.#opened = undefined;
  }

  async #try<Result>(act: (opened: Opened) => Promise<Result>): Promise<Result> {
    try {
      this.#opened ??= this.#open();
      return await act(await this.#opened);
    } catch (error) {
      throw bucketFailure(this.uri, error, statusOf(error));
    }
  }

  async #open(): Promise<Opened> {
    const sdk = await optionalPackage('@aws-sdk/client-s3', () => import('@aws-sdk/client-s3'));
    const { endpoint, region = process.env['AWS_REGION'] ?? process.env['AWS_DEFAULT_REGION'] } = this.#place;
    const client = new sdk.S3Client({
      ...((region ?? endpoint) !== undefined && { region: region ?? 'us-east-1' }),
      ...(endpoint !== undefined && {
        endpoint,
        forcePathStyle: true,
        requestChecksumCalculation: 'WHEN_REQUIRED',
        responseChecksumValidation: 'WHEN_REQUIRED',
      }),
      requestHandler: { connectionTimeout: 5000, socketTimeout: this.#place.idleTimeoutMs ?? idleTimeoutMs },
    });
    client.middlewareStack.add(limitSilence(this.uri), { step: 'finalizeRequest', priority: 'low' });
    return { sdk, client };
  }
}

/**
 * Ends requests without a response. Below the SDK's retries, because a client waits and a second attempt would double the
 * time. Reading a body is not limited here.
 */
const limitSilence =
  (uri: string) =>
  <Args, Answer extends { response: unknown }>(next: (args: Args) => Promise<Answer>) =>
  async (args: Args): Promise<Answer> => {
    try {
      const answer = await next(args);
      const { body } = answer.response as { body?: unknown };
      if (body instanceof IncomingMessage) body.socket.setTimeout(0);
      return answer;
    } catch (error) {
      // With a code it is a broken connection, for which the SDK uses the same name, and which it retries.
      if (!(error instanceof Error && error.name === 'TimeoutError') || 'code' in error) throw error;
      // No `cause`: the SDK would find it and retry.
      throw new AppError('unavailable', `The bucket ${uri} does not answer`, { retryAfter });
    }
  };

const secondsOf = (time = new Date()): number => time.getTime() / 1000;

function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error && '$metadata' in error)) return undefined;
  return (error as Sdk.S3ServiceException).$metadata.httpStatusCode;
}
