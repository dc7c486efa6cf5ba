import { afterEach, beforeAll, beforeEach, afterAll, describe, expect, it, vi } from 'vitest';
import { BucketArtifacts } from '../../../../src/services/artifacts/buckets/bucket-artifacts.ts';
import { GoogleBucket } from '../../../../src/services/artifacts/buckets/gcs.ts';
import { S3Bucket } from '../../../../src/services/artifacts/buckets/s3.ts';
import { freshKey } from '../../../../src/testing/contracts/events.ts';
import { gcsDouble } from '../../../support/gcs-double.ts';
import { s3Double } from '../../../support/s3-double.ts';

const megabyte = 1024 * 1024;
const limitMs = 300;

/** Bytes that come more slowly than a bucket may be silent. */
async function* slowly(count: number, ms = 0): AsyncGenerator<Uint8Array, void, void> {
  for (let n = 0; n < count; n += 1) {
    yield Buffer.alloc(megabyte, n);
    if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
  }
}

const kinds = [
  {
    name: 'S3',
    double: s3Double(),
    isUpload: (request: string) => request.includes('partNumber='),
    uploads: 2, // at once
    taken: 1,
    open: (url: string) => new S3Bucket({ bucket: 'agents', endpoint: url, idleTimeoutMs: limitMs }),
  },
  {
    name: 'Google Cloud Storage',
    double: gcsDouble(),
    isUpload: (request: string) => request.startsWith('POST ') && !request.includes('ifGenerationMatch'),
    uploads: 1,
    taken: 0,
    open: () => new GoogleBucket('agents', limitMs),
  },
];

describe.each(kinds)('$name', ({ double, isUpload, uploads, taken, open }) => {
  beforeAll(async () => {
    await double.start();
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
  });
  beforeEach(() => vi.stubEnv('STORAGE_EMULATOR_HOST', double.url));
  afterEach(() => {
    double.stalls = undefined;
    double.objects.clear();
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await double.close();
  });

  it('gives up an upload its bucket does not answer, once, and keeps nothing of it', async () => {
    const artifacts = new BucketArtifacts(open(double.url), '');
    const from = double.requests.length;
    double.stalls = isUpload;

    const saved = artifacts.saveArtifactContent(freshKey(), 'film', { mimeType: 'a/b', bytes: slowly(20) });

    await expect(saved).rejects.toMatchObject({ code: 'unavailable', retryAfter: 2 });
    const requests = double.requests.slice(from);
    expect(double.objects.size).toBe(0);
    expect(requests.filter(isUpload)).toHaveLength(uploads);
    expect(requests.filter((request) => /^DELETE .*uploadId=/.test(request))).toHaveLength(taken);
  });

  it('gives up a part its bucket does not answer', async () => {
    const artifacts = new BucketArtifacts(open(double.url), '');
    double.stalls = (request) => /^(?:POST|PUT) /.test(request);

    const saved = artifacts.saveArtifact(freshKey(), 'note', { text: 'x' });

    await expect(saved).rejects.toMatchObject({ code: 'unavailable', retryAfter: 2 });
  });

  it('gives up a download whose bytes stop coming', async () => {
    const artifacts = new BucketArtifacts(open(double.url), '');
    const key = freshKey();
    await artifacts.saveArtifactContent(key, 'film', { mimeType: 'a/b', bytes: slowly(4) });
    const content = await artifacts.openArtifact(key, 'film');
    double.stalls = (request) => request.startsWith('GET');

    let received = 0;
    const read = (async () => {
      for await (const chunk of content!.read()) received += chunk.length;
    })();

    await expect(read).rejects.toMatchObject({ code: 'unavailable' });
    expect(received).toBe(2 * megabyte);
  });

  it('waits for senders and readers that take longer than a bucket may', async () => {
    const artifacts = new BucketArtifacts(open(double.url), '');
    const key = freshKey();

    await artifacts.saveArtifactContent(key, 'film', { mimeType: 'a/b', bytes: slowly(3, 2 * limitMs) });
    const content = await artifacts.openArtifact(key, 'film');
    let received = 0;
    for await (const chunk of content!.read()) {
      if (received === 0) await new Promise((resolve) => setTimeout(resolve, 2 * limitMs));
      received += chunk.length;
    }

    expect(received).toBe(3 * megabyte);
  });
});
