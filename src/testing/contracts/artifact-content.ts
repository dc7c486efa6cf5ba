import { afterEach, describe, expect, it } from 'vitest';
import type { ArtifactService } from '../../core/services.ts';
import { freshKey } from './events.ts';

/** An artifact store that streams. */
export type StreamingArtifacts = ArtifactService &
  Required<Pick<ArtifactService, 'saveArtifactContent' | 'openArtifact'>>;

/** What an artifact store that streams promises besides. `open` is called for each test. */
export function artifactContentContract(
  name: string,
  open: () => StreamingArtifacts | Promise<StreamingArtifacts>,
): void {
  describe(`${name} as an artifact service that streams`, () => {
    const opened: ArtifactService[] = [];
    const start = async (): Promise<StreamingArtifacts> => {
      const service = await open();
      opened.push(service);
      return service;
    };
    afterEach(async () => {
      for (const service of opened.splice(0)) await service.close?.();
    });

    it('streams content in and out, whole and in ranges', async () => {
      const artifacts = await start();
      const key = freshKey();
      const content = { mimeType: 'video/mp4', bytes: pieces('0123', '', '456789') };

      expect(await artifacts.saveArtifactContent(key, 'film', content, { why: 1 })).toBe(0);

      const found = (await artifacts.openArtifact(key, 'film'))!;
      expect(found).toMatchObject({
        size: 10,
        about: { version: 0, mimeType: 'video/mp4', customMetadata: { why: 1 }, size: 10 },
      });
      expect(await textOf(found.read())).toBe('0123456789');
      expect(await textOf(found.read({ start: 3, end: 7 }))).toBe('3456');
      expect(await textOf(found.read({ start: 3, end: 3 }))).toBe('');
      const data = Buffer.from('0123456789').toString('base64');
      expect(await artifacts.loadArtifact(key, 'film')).toEqual({ inlineData: { mimeType: 'video/mp4', data } });
      expect(await artifacts.openArtifact(key, 'other')).toBeUndefined();
    });

    it('opens what was saved as a whole, text and empty content too, but no reference', async () => {
      const artifacts = await start();
      const key = freshKey();
      await artifacts.saveArtifact(key, 'x', { text: 'größe' });
      await artifacts.saveArtifactContent(key, 'x', { mimeType: 'a/b', bytes: pieces() });
      await artifacts.saveArtifact(key, 'x', { fileData: { fileUri: 'gs://bucket/cat' } });

      expect(await textOf((await artifacts.openArtifact(key, 'x', 0))!.read())).toBe('größe');
      expect((await artifacts.openArtifact(key, 'x', 1))!.size).toBe(0);
      expect(await artifacts.openArtifact(key, 'x', 2)).toBeUndefined();
      expect(await artifacts.listArtifactKeys(key)).toEqual(['x']);
    });

    it('leaves nothing of content whose source fails, and takes the next', async () => {
      const artifacts = await start();
      const key = freshKey();
      async function* failing(): AsyncGenerator<Uint8Array, void, void> {
        yield Buffer.alloc(1024 * 1024);
        throw new Error('the client left');
      }

      const saved = artifacts.saveArtifactContent(key, 'film', { mimeType: 'video/mp4', bytes: failing() });

      await expect(saved).rejects.toThrow('the client left');
      expect(await artifacts.listArtifactKeys(key)).toEqual([]);
      expect(await artifacts.listVersions(key, 'film')).toEqual([]);
      const content = { mimeType: 'video/mp4', bytes: pieces('whole') };
      expect(await artifacts.saveArtifactContent(key, 'film', content)).toBe(0);
    });

    it('shows nobody a version before it is whole', async () => {
      const artifacts = await start();
      const key = freshKey();
      const seen: unknown[] = [];
      async function* looking(): AsyncGenerator<Uint8Array, void, void> {
        yield Buffer.from('half');
        seen.push(await artifacts.listArtifactKeys(key), await artifacts.loadArtifact(key, 'film'));
        yield Buffer.from('whole');
      }

      await artifacts.saveArtifactContent(key, 'film', { mimeType: 'video/mp4', bytes: looking() });

      expect(seen).toEqual([[], undefined]);
      expect(await artifacts.listArtifactKeys(key)).toEqual(['film']);
    });

    it('takes content of many pieces, and lets a reader leave early', async () => {
      const artifacts = await start();
      const key = freshKey();
      const mebibyte = 1024 * 1024;
      async function* large(): AsyncGenerator<Uint8Array, void, void> {
        for (let n = 0; n < 20; n += 1) yield Buffer.alloc(mebibyte, n);
      }

      await artifacts.saveArtifactContent(key, 'film', { mimeType: 'video/mp4', bytes: large() });

      const found = (await artifacts.openArtifact(key, 'film'))!;
      expect(found.size).toBe(20 * mebibyte);
      for await (const chunk of found.read()) {
        expect(chunk[0]).toBe(0);
        break;
      }
      const edge: Uint8Array[] = [];
      for await (const chunk of found.read({ start: 19 * mebibyte - 1, end: 19 * mebibyte + 1 })) edge.push(chunk);
      expect(Buffer.concat(edge).toString('hex')).toBe('1213');
    });
  });
}

async function* pieces(...texts: string[]): AsyncGenerator<Uint8Array, void, void> {
  for (const text of texts) yield Buffer.from(text);
}

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all).toString();
}
