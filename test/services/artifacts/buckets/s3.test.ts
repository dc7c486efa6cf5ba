import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { BucketArtifacts } from '../../../../src/services/artifacts/buckets/bucket-artifacts.ts';
import { S3Bucket } from '../../../../src/services/artifacts/buckets/s3.ts';
import { artifactContentContract } from '../../../../src/testing/contracts/artifact-content.ts';
import { artifactRetentionContract } from '../../../../src/testing/contracts/artifact-retention.ts';
import { artifactServiceContract } from '../../../../src/testing/contracts/artifacts.ts';
import { freshKey } from '../../../../src/testing/contracts/events.ts';
import { s3Double } from '../../../support/s3-double.ts';

// The real SDK, against a double; against a real bucket with TEST_S3_BUCKET (and TEST_S3_ENDPOINT).
const realBucket = process.env['TEST_S3_BUCKET'];
const double = s3Double();

beforeAll(async () => {
  await double.start();
  if (realBucket !== undefined) return;
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await double.close();
});

const doubled = (): BucketArtifacts =>
  new BucketArtifacts(new S3Bucket({ bucket: 'agents', endpoint: double.url }), 'some/where/');
const open = (prefix = `test-${crypto.randomUUID()}/`): BucketArtifacts => {
  const endpoint = realBucket === undefined ? double.url : process.env['TEST_S3_ENDPOINT'];
  return new BucketArtifacts(new S3Bucket({ bucket: realBucket ?? 'agents', endpoint }), prefix);
};

artifactServiceContract('S3', () => open());
artifactContentContract('S3', () => open());
let empty = '';
beforeEach(() => {
  empty = `test-${crypto.randomUUID()}/`;
});
artifactRetentionContract('S3', () => open(empty));

it('keeps bytes as they are, with their type, under names people can read', async () => {
  const artifacts = doubled();
  const key = { appName: 'app', userId: 'a/da', sessionId: 'user' };
  await artifacts.saveArtifact(key, 'a/b.png', { inlineData: { mimeType: 'image/png', data: 'aGk=' } });
  await artifacts.saveArtifact(key, 'user:größe', { text: 'XL' }, { 'in words': 'größer  als groß' });

  const image = double.objects.get('some/where/app/a%2Fda/%75ser/a/b.png/0');
  expect(image).toMatchObject({ contentType: 'image/png', bytes: Buffer.from('hi') });
  const size = double.objects.get('some/where/app/a%2Fda/user/user:größe/0');
  expect(size).toMatchObject({ contentType: 'text/plain', bytes: Buffer.from('XL') });
  const [about] = await artifacts.listVersions(key, 'user:größe');
  expect(about).toMatchObject({
    canonicalUri: 's3://agents/some/where/app/a%2Fda/user/user:größe/0',
    customMetadata: { 'in words': 'größer  als groß' },
    size: 2,
  });
});

it('gives back exactly what it was given, even what is no proper base64, text or header', async () => {
  const artifacts = doubled();
  const key = freshKey();
  const parts = [
    { inlineData: { mimeType: 'x/y', data: '-_8' } },
    { inlineData: { mimeType: 'x/größe\n', data: 'aGk=', displayName: 'Größe\t.png' } },
    { text: 'half \ud83d' },
    { fileData: { fileUri: `https://example.com/größe?${'x'.repeat(5000)}` } },
  ];
  for (const part of parts) await artifacts.saveArtifact(key, 'odd', part);

  for (const [version, part] of parts.entries())
    expect(await artifacts.loadArtifact(key, 'odd', version)).toEqual(part);
});

it('refuses metadata and names a bucket has no room for', async () => {
  const artifacts = doubled();
  const metadata = artifacts.saveArtifact(freshKey(), 'x', { text: '' }, { why: 'x'.repeat(2000) });
  await expect(metadata).rejects.toMatchObject({ code: 'too_large' });
  const name = artifacts.saveArtifact({ ...freshKey(), userId: '世'.repeat(256) }, '世'.repeat(100), { text: '' });
  await expect(name).rejects.toMatchObject({ code: 'invalid_name' });
});

it('sends large content in pieces, and takes them back when the source fails', async () => {
  const artifacts = doubled();
  const from = double.requests.length;
  async function* failing(): AsyncGenerator<Uint8Array, void, void> {
    for (let n = 0; n < 20; n += 1) yield Buffer.alloc(1024 * 1024);
    throw new Error('the client left');
  }

  const saved = artifacts.saveArtifactContent(freshKey(), 'film', { mimeType: 'video/mp4', bytes: failing() });

  await expect(saved).rejects.toThrow('the client left');
  const requests = double.requests.slice(from);
  expect(requests.filter((request) => request.includes('partNumber=')).length).toBeGreaterThan(0);
  expect(requests.filter((request) => /^DELETE .*uploadId=/.test(request))).toHaveLength(1);
});

it.each([
  [403, 'refuses the server'],
  [404, 'does not exist'],
])('says that it is unavailable when its bucket answers %i', async (status, what) => {
  const artifacts = doubled();
  double.outage = status;
  try {
    await expect(artifacts.check()).rejects.toMatchObject({
      code: 'unavailable',
      message: `The bucket s3://agents ${what}`,
      retryAfter: 2,
    });
  } finally {
    double.outage = undefined;
  }
  await artifacts.check();
});

it('says that it is unavailable when nothing answers', async () => {
  const gone = await s3Double().start();
  const bucket = new S3Bucket({ bucket: 'agents', endpoint: gone.url });
  await gone.close();

  const saved = new BucketArtifacts(bucket, '').saveArtifact(freshKey(), 'x', { text: '' });

  await expect(saved).rejects.toMatchObject({ code: 'unavailable' });
});
