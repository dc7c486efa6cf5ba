import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { BucketArtifacts } from '../../../../src/services/artifacts/buckets/bucket-artifacts.ts';
import { GoogleBucket } from '../../../../src/services/artifacts/buckets/gcs.ts';
import { freshKey } from '../../../../src/testing/contracts/events.ts';
import { gcsDouble } from '../../../support/gcs-double.ts';

const double = gcsDouble();

beforeAll(async () => {
  await double.start();
  vi.stubEnv('STORAGE_EMULATOR_HOST', double.url);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await double.close();
});

const doubled = (): BucketArtifacts => new BucketArtifacts(new GoogleBucket('agents'), '');

it("finds what ADK's servers have stored, and goes on counting", async () => {
  const key = freshKey();
  const owner = `${key.appName}/${key.userId}`;
  const session = `${owner}/${key.sessionId}`;
  const artifacts = doubled();
  double.keep(`${session}/a/photo.png/0`, Buffer.from('hi'), 'image/png', { why: 'because' });
  double.keep(`${session}/note/0`, Buffer.from('hi'), 'text/plain', { adkIsText: 'true' });
  double.keep(`${session}/link/0`, Buffer.alloc(0), 'application/octet-stream', {
    adkFileUri: 'gs://b/cat',
    adkFileMimeType: 'image/png',
  });
  double.keep(`${owner}/user/user:python/0`, Buffer.from('p'), 'a/b', {});
  double.keep(`${owner}/user/typescript/0`, Buffer.from('t'), 'a/b', { adkDisplayName: 'T' });
  double.keep(`${owner}/user/no-version`, Buffer.from('x'), 'a/b', {});

  expect(await artifacts.listArtifactKeys(key)).toEqual([
    'a/photo.png',
    'link',
    'note',
    'user:python',
    'user:typescript',
  ]);
  const load = (name: string, version?: number): Promise<unknown> => artifacts.loadArtifact(key, name, version);
  expect(await load('a/photo.png')).toEqual({ inlineData: { mimeType: 'image/png', data: 'aGk=' } });
  expect((await artifacts.listVersions(key, 'a/photo.png'))[0]?.customMetadata).toEqual({ why: 'because' });
  expect(await load('note')).toEqual({ text: 'hi' });
  expect(await load('link')).toEqual({ fileData: { fileUri: 'gs://b/cat', mimeType: 'image/png' } });
  expect(await load('user:python')).toEqual({ inlineData: { mimeType: 'a/b', data: 'cA==' } });
  expect(await artifacts.saveArtifact(key, 'user:typescript', { text: 'ours' })).toBe(1);
  expect(await load('user:typescript')).toEqual({ text: 'ours' });
  expect(await load('user:typescript', 0)).toEqual({
    inlineData: { mimeType: 'a/b', data: 'dA==', displayName: 'T' },
  });
  await artifacts.deleteArtifact(key, 'user:typescript');
  expect(double.names(`${owner}/user/`, null)).toEqual([`${owner}/user/no-version`, `${owner}/user/user:python/0`]);
});

it("stores what ADK's servers look for", async () => {
  const key = freshKey();
  const artifacts = doubled();
  await artifacts.saveArtifact(key, 'user:note', { text: 'größe' });
  await artifacts.saveArtifact(key, 'link', { fileData: { fileUri: 'gs://b/cat', mimeType: 'image/png' } });

  expect(double.objects.get(`${key.appName}/${key.userId}/user/user:note/0`)).toMatchObject({
    bytes: Buffer.from('größe'),
    contentType: 'text/plain',
    metadata: { adkIsText: 'true' },
  });
  expect(double.objects.get(`${key.appName}/${key.userId}/${key.sessionId}/link/0`)).toMatchObject({
    bytes: Buffer.alloc(0),
    contentType: 'image/png',
    metadata: { adkFileUri: 'gs://b/cat', adkFileMimeType: 'image/png' },
  });
});

it('says that it is unavailable when its bucket refuses it', async () => {
  const artifacts = doubled();
  double.outage = 403;
  try {
    await expect(artifacts.check()).rejects.toMatchObject({
      code: 'unavailable',
      message: 'The bucket gs://agents refuses the server',
    });
  } finally {
    double.outage = undefined;
  }
  await artifacts.check();
});
