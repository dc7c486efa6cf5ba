import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { BucketArtifacts } from '../../../../src/services/artifacts/buckets/bucket-artifacts.ts';
import {
  artifactIn,
  sessionFolder,
  userFolder,
  versionFolders,
} from '../../../../src/services/artifacts/buckets/bucket-names.ts';
import { S3Bucket } from '../../../../src/services/artifacts/buckets/s3.ts';
import { s3Double } from '../../../support/s3-double.ts';

const double = s3Double();
const key = { appName: 'app', userId: 'ada', sessionId: 's1' };

beforeAll(async () => {
  await double.start();
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await double.close();
});
beforeEach(() => double.objects.clear());

const open = (): BucketArtifacts => new BucketArtifacts(new S3Bucket({ bucket: 'agents', endpoint: double.url }), '');

async function* pieces(...texts: string[]): AsyncGenerator<Uint8Array, void, void> {
  for (const text of texts) yield Buffer.from(text);
}

it('stores a version once when the answer to the first try is lost', async () => {
  double.losing.times = 1;

  expect(await open().saveArtifact(key, 'poem', { text: 'one' })).toBe(0);

  expect([...double.objects.keys()]).toEqual(['app/ada/s1/poem/0']);
});

it('passes over what a killed server left of an upload', async () => {
  const artifacts = open();
  let seen: [string, NonNullable<ReturnType<typeof double.objects.get>>][] = [];
  async function* copying(): AsyncGenerator<Uint8Array, void, void> {
    yield Buffer.from('half');
    seen = [...double.objects];
  }
  await artifacts.saveArtifactContent(key, 'film', { mimeType: 'video/mp4', bytes: copying() });
  double.objects.clear();
  for (const [name, object] of seen) double.objects.set(name, object);
  expect([...double.objects.keys()]).toEqual(['app/ada/s1/film/0']);

  expect(await artifacts.listArtifactKeys(key)).toEqual([]);
  expect(await artifacts.loadArtifact(key, 'film', 0)).toBeUndefined();
  expect(await artifacts.saveArtifactContent(key, 'film', { mimeType: 'video/mp4', bytes: pieces('whole') })).toBe(1);
  expect((await artifacts.listVersions(key, 'film')).map(({ version }) => version)).toEqual([1]);
  await artifacts.deleteArtifact(key, 'film');
  expect(double.objects.size).toBe(0);
});

it('gives two servers that stream at once different versions', async () => {
  const films = ['one', 'two', 'three', 'four'].map(async (text) => {
    const version = await open().saveArtifactContent(key, 'film', { mimeType: 'video/mp4', bytes: pieces(text) });
    return { version, text };
  });

  const saved = await Promise.all(films);

  expect(saved.map(({ version }) => version).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3]);
  for (const { version, text } of saved) {
    const part = await open().loadArtifact(key, 'film', version);
    expect(part?.inlineData?.data).toBe(Buffer.from(text).toString('base64'));
  }
});

it('keeps apart whatever apps, users, sessions and artifacts are called', () => {
  const id = fc.oneof(fc.constantFrom('user', '%75ser', 'a%2Fb', '0'), fc.string({ minLength: 1, maxLength: 8 }));
  const name = fc.array(fc.constantFrom('a', '0', '1', 'user:', 'x%2F', ' '), { minLength: 1 }).map((n) => n.join('/'));
  const place = fc.record({ key: fc.record({ appName: id, userId: id, sessionId: id }), name });
  fc.assert(
    fc.property(place, place, (one, other) => {
      const folderOf = (at: typeof one): string => versionFolders('', at.key, at.name)[0]!;
      const ownerOf = (at: typeof one): unknown =>
        at.name.startsWith('user:') ? { ...at.key, sessionId: '' } : at.key;
      const same = JSON.stringify([ownerOf(one), one.name]) === JSON.stringify([ownerOf(other), other.name]);
      expect(folderOf(one) === folderOf(other)).toBe(same);
      const shelf = one.name.startsWith('user:') ? userFolder(one.key) : sessionFolder(one.key);
      expect(artifactIn(shelf, `${folderOf(one)}7`)).toBe(one.name);
    }),
  );
});

const forGood = { signal: new AbortController().signal, isTrial: false };
const age = (name: string): void => {
  const object = double.objects.get(name)!;
  double.objects.set(name, { ...object, modified: new Date(object.modified.getTime() - 90_000_000) });
};

it('holds the numbers of old versions until nobody can be about to take them', async () => {
  const artifacts = open();
  for (const text of ['one', 'two', 'three']) await artifacts.saveArtifact(key, 'poem', { text });
  age('app/ada/s1/poem/0');

  expect(await artifacts.collectGarbage({ keep: 1 }, forGood)).toBe(2);
  expect([...double.objects].map(([name, { bytes }]) => [name, bytes.length])).toEqual([
    ['app/ada/s1/poem/1', 0],
    ['app/ada/s1/poem/2', 5],
  ]);
  age('app/ada/s1/poem/1');
  expect(await artifacts.collectGarbage({ keep: 1 }, forGood)).toBe(0);

  expect([...double.objects.keys()]).toEqual(['app/ada/s1/poem/2']);
  expect(await artifacts.saveArtifact(key, 'poem', { text: 'four' })).toBe(3);
});

it('counts neither uploads under way nor deletes them, and leaves alone what is not its own', async () => {
  const artifacts = open();
  for (const text of ['', 'two']) await artifacts.saveArtifact(key, 'poem', { text });
  for (const name of ['logs/2026/1', 'logs/2026/2', 'app/ada/s1/report/0', 'app/ada/s1/report/1']) {
    double.keep(name, Buffer.from('x'), 'text/plain', {});
  }
  let during = -1;
  async function* copying(): AsyncGenerator<Uint8Array, void, void> {
    during = await artifacts.collectGarbage({ keep: 1 }, forGood);
    yield Buffer.from('three');
  }

  await artifacts.saveArtifactContent(key, 'poem', { mimeType: 'text/plain', bytes: copying() });

  expect(during).toBe(1);
  expect((await artifacts.listVersions(key, 'poem')).map(({ version }) => version)).toEqual([1, 2]);
  expect(await artifacts.collectGarbage({ keep: 1 }, forGood)).toBe(1);
  expect([...double.objects.keys()].filter((name) => !name.includes('poem'))).toHaveLength(4);
});

it.each(['list', 'read'] as const)(
  'loads the newest version when the one it has found goes before the %s',
  async (at) => {
    const other = open();
    let isLate = true;
    const interfere = async (): Promise<void> => {
      if (!isLate) return;
      isLate = false;
      await other.saveArtifact(key, 'poem', { text: 'newer' });
      await other.collectGarbage({ keep: 1 }, forGood);
    };
    class Late extends S3Bucket {
      override async *list(...query: Parameters<S3Bucket['list']>): ReturnType<S3Bucket['list']> {
        const listed = await Array.fromAsync(super.list(...query));
        if (at === 'list') await interfere();
        yield* listed;
      }
      override async *read(...place: Parameters<S3Bucket['read']>): ReturnType<S3Bucket['read']> {
        if (at === 'read') await interfere();
        yield* super.read(...place);
      }
    }
    const late = new BucketArtifacts(new Late({ bucket: 'agents', endpoint: double.url }), '');
    await other.saveArtifact(key, 'poem', { text: 'old' });

    expect(await late.loadArtifact(key, 'poem')).toEqual({ text: 'newer' });
    isLate = at === 'read';
    expect(await late.loadArtifact(key, 'poem', isLate ? 1 : 0)).toBeUndefined();
  },
);
