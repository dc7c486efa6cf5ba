import { afterEach, describe, expect, it } from 'vitest';
import type { ArtifactService } from '../../core/services.ts';
import { freshKey } from './events.ts';

const text = (value: string): { text: string } => ({ text: value });

/** What every artifact store promises. `open` is called for each test and may open a shared store. */
export function artifactServiceContract(name: string, open: () => ArtifactService | Promise<ArtifactService>): void {
  describe(`${name} as an artifact service`, () => {
    const opened: ArtifactService[] = [];
    const start = async (): Promise<ArtifactService> => {
      const service = await open();
      opened.push(service);
      return service;
    };
    afterEach(async () => {
      for (const service of opened.splice(0)) await service.close?.();
    });
    versions(start);
    scopes(start);
    names(start);
  });
}

type Start = () => Promise<ArtifactService>;

function versions(start: Start): void {
  it('numbers versions from 0 and loads the latest or the one asked for', async () => {
    const artifacts = await start();
    const key = freshKey();

    expect(await artifacts.saveArtifact(key, 'poem', text('one'))).toBe(0);
    expect(await artifacts.saveArtifact(key, 'poem', text('two'))).toBe(1);

    expect(await artifacts.loadArtifact(key, 'poem')).toEqual(text('two'));
    expect(await artifacts.loadArtifact(key, 'poem', 0)).toEqual(text('one'));
    for (const version of [2, -1, 0.5]) {
      expect(await artifacts.loadArtifact(key, 'poem', version)).toBeUndefined();
    }
  });

  it('keeps the numbers of copied versions, if it can, and goes on from them', async () => {
    const artifacts = await start();
    const key = freshKey();
    const copy = (value: string, version: number) =>
      artifacts.saveArtifactCopy?.(key, 'poem', text(value), { version, metadata: { from: 'a' } });
    if (!artifacts.saveArtifactCopy) return;

    expect(await copy('three', 2)).toBe(2);
    expect(await copy('five', 4)).toBe(4);
    expect(await copy('late', 1)).toBe(5);
    expect(await artifacts.saveArtifact(key, 'poem', text('next'))).toBe(6);

    const listed = await artifacts.listVersions(key, 'poem');
    expect(listed.map(({ version }) => version)).toEqual([2, 4, 5, 6]);
    expect(listed[0]?.customMetadata).toEqual({ from: 'a' });
    expect(await artifacts.loadArtifact(key, 'poem', 2)).toEqual(text('three'));
    expect(await artifacts.loadArtifact(key, 'poem', 0)).toBeUndefined();
  });

  it('gives simultaneous saves different versions', async () => {
    const artifacts = await start();
    const key = freshKey();

    const saves = Array.from({ length: 10 }, (_, n) => artifacts.saveArtifact(key, 'poem', text(`${n}`)));
    const numbers = await Promise.all(saves);

    expect(numbers.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(await artifacts.loadArtifact(key, 'poem', numbers[3])).toEqual(text('3'));
  });

  it('keeps inline data, text and file references as they were given', async () => {
    const artifacts = await start();
    const key = freshKey();
    const parts = [
      { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=', displayName: 'dot.png' } },
      text(''),
      { fileData: { fileUri: 'gs://bucket/cat.jpg', mimeType: 'image/jpeg' } },
    ];

    for (const part of parts) await artifacts.saveArtifact(key, 'thing', part);

    for (const [version, part] of parts.entries()) {
      expect(await artifacts.loadArtifact(key, 'thing', version)).toEqual(part);
    }
  });

  it('refuses a part that holds none of these', async () => {
    const artifacts = await start();
    const call = { functionCall: { name: 'add' } };

    await expect(artifacts.saveArtifact(freshKey(), 'x', call)).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('describes each version', async () => {
    const artifacts = await start();
    const key = freshKey();
    await artifacts.saveArtifact(key, 'thing', text('hi'), { why: { because: 1 } });
    await artifacts.saveArtifact(key, 'thing', { inlineData: { mimeType: 'image/png', data: 'aGk=' } });

    const [first, second, ...rest] = await artifacts.listVersions(key, 'thing');

    expect(rest).toEqual([]);
    expect(first).toMatchObject({ version: 0, customMetadata: { why: { because: 1 } }, mimeType: 'text/plain' });
    expect(second).toMatchObject({ version: 1, customMetadata: {}, mimeType: 'image/png' });
    expect([undefined, 2]).toContain(second?.size);
    expect(first?.canonicalUri).not.toBe(second?.canonicalUri);
    expect(Math.abs(first!.createTime - Date.now() / 1000)).toBeLessThan(600);
  });

  it('deletes all versions, counts from 0 again, and takes an unknown name calmly', async () => {
    const artifacts = await start();
    const key = freshKey();
    await artifacts.saveArtifact(key, 'poem', text('one'));
    await artifacts.saveArtifact(key, 'poem', text('two'));

    await artifacts.deleteArtifact(key, 'poem');
    await artifacts.deleteArtifact(key, 'poem');

    expect(await artifacts.loadArtifact(key, 'poem')).toBeUndefined();
    expect(await artifacts.loadArtifact(key, 'poem', 0)).toBeUndefined();
    expect(await artifacts.listVersions(key, 'poem')).toEqual([]);
    expect(await artifacts.listArtifactKeys(key)).toEqual([]);
    expect(await artifacts.saveArtifact(key, 'poem', text('three'))).toBe(0);
  });

  it('is not touched by what the caller does with a part or its metadata afterwards', async () => {
    const artifacts = await start();
    const key = freshKey();
    const part = { inlineData: { mimeType: 'text/plain', data: 'aGk=' } };
    const metadata = { list: [1] };
    await artifacts.saveArtifact(key, 'x', part, metadata);

    part.inlineData.data = 'bm8=';
    metadata.list.push(2);

    expect((await artifacts.loadArtifact(key, 'x'))?.inlineData?.data).toBe('aGk=');
    expect((await artifacts.listVersions(key, 'x'))[0]?.customMetadata).toEqual({ list: [1] });
  });
}

function scopes(start: Start): void {
  it('shows user artifacts in each session of the user and nowhere else', async () => {
    const artifacts = await start();
    const key = freshKey();
    const sibling = { ...key, sessionId: 's2' };
    await artifacts.saveArtifact(key, 'user:avatar', text('face'));
    await artifacts.saveArtifact(key, 'note', text('mine'));
    await artifacts.saveArtifact(sibling, 'user:avatar', text('new face'));

    expect(await artifacts.listArtifactKeys(key)).toEqual(['note', 'user:avatar']);
    expect(await artifacts.listArtifactKeys(sibling)).toEqual(['user:avatar']);
    expect(await artifacts.loadArtifact(key, 'user:avatar')).toEqual(text('new face'));
    expect(await artifacts.loadArtifact(sibling, 'note')).toBeUndefined();
    for (const stranger of [
      { ...key, userId: 'bob' },
      { ...freshKey(), userId: key.userId },
    ]) {
      expect(await artifacts.listArtifactKeys(stranger)).toEqual([]);
      expect(await artifacts.loadArtifact(stranger, 'user:avatar')).toBeUndefined();
    }
  });

  it('does not mix up a user artifact with a session artifact or with a session called user', async () => {
    const artifacts = await start();
    const key = { ...freshKey(), sessionId: 'user' };
    await artifacts.saveArtifact(key, 'avatar', text('session'));
    await artifacts.saveArtifact(key, 'user:avatar', text('user'));

    expect(await artifacts.loadArtifact(key, 'avatar')).toEqual(text('session'));
    expect(await artifacts.loadArtifact({ ...key, sessionId: 's2' }, 'user:avatar')).toEqual(text('user'));
    expect(await artifacts.listArtifactKeys(key)).toEqual(['avatar', 'user:avatar']);
  });

  it('drops what a deleted session had and keeps what its user has', async () => {
    const artifacts = await start();
    const key = freshKey();
    await artifacts.saveArtifact(key, 'user:avatar', text('face'));
    await artifacts.saveArtifact(key, 'a/b/note', text('gone'));
    await artifacts.saveArtifact({ ...key, sessionId: 's2' }, 'note', text('stays'));

    await artifacts.deleteSessionArtifacts(key);
    await artifacts.deleteSessionArtifacts(freshKey());

    expect(await artifacts.listArtifactKeys(key)).toEqual(['user:avatar']);
    expect(await artifacts.listArtifactKeys({ ...key, sessionId: 's2' })).toEqual(['note', 'user:avatar']);
  });
}

function names(start: Start): void {
  it('takes names with slashes, spaces, percent signs and any script, and lists them sorted', async () => {
    const artifacts = await start();
    const key = freshKey();
    const wanted = [
      'b',
      'a/b.txt',
      'a',
      'a b%2F#?.txt',
      'größe/世界 👋',
      '__proto__',
      'CON',
      'user:deep/er',
      '.hidden',
    ];

    for (const name of wanted) await artifacts.saveArtifact(key, name, text(name));

    expect(await artifacts.listArtifactKeys(key)).toEqual(wanted.toSorted());
    for (const name of wanted) expect(await artifacts.loadArtifact(key, name)).toEqual(text(name));
  });

  it('refuses names that are empty, lead out of their folder or hold what no store can keep', async () => {
    const artifacts = await start();
    const bad = ['', ' ', '..', 'a/../b', '/etc/passwd', 'a//b', 'a\\b', 'a\0b', '\ud800', 'user:', 'user:../x'];

    const codes: unknown[] = [];
    for (const name of [...bad, 'x'.repeat(257)]) {
      const outcome = artifacts.saveArtifact(freshKey(), name, text('x')).then(
        () => `stored ${JSON.stringify(name)}`,
        (error: { code?: unknown }) => error.code,
      );
      codes.push(await outcome);
    }

    expect(new Set(codes)).toEqual(new Set(['invalid_name']));
  });
}
