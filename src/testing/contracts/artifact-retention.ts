import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { ArtifactService } from '../../core/services.ts';
import type { SessionKey } from '../../schemas/session.ts';
import { freshKey } from './events.ts';

/** An artifact store that can be cleaned. */
export type CollectedArtifacts = ArtifactService & Required<Pick<ArtifactService, 'collectGarbage'>>;

/** What an artifact store promises that deletes old versions. `open` opens an empty store, twice the same within a test. */
export function artifactRetentionContract(
  name: string,
  open: () => CollectedArtifacts | Promise<CollectedArtifacts>,
): void {
  describe(`${name} as an artifact service that forgets old versions`, () => {
    const opened: ArtifactService[] = [];
    const start = async (): Promise<CollectedArtifacts> => {
      const service = await open();
      opened.push(service);
      return service;
    };
    afterEach(async () => {
      for (const service of opened.splice(0)) await service.close?.();
    });
    limits(start);
    races(start);
  });
}

type Start = () => Promise<CollectedArtifacts>;

const text = (value: string): { text: string } => ({ text: value });
const { signal } = new AbortController();
const forGood = { signal, isTrial: false };
const asTrial = { signal, isTrial: true };

async function saveTexts(artifacts: ArtifactService, key: SessionKey, name: string, count: number): Promise<void> {
  for (let version = 0; version < count; version += 1) await artifacts.saveArtifact(key, name, text(`${version}`));
}

async function numbersOf(artifacts: ArtifactService, key: SessionKey, name: string): Promise<number[]> {
  return (await artifacts.listVersions(key, name)).map(({ version }) => version);
}

function limits(start: Start): void {
  it('keeps the newest versions of each artifact, under their numbers, and goes on counting', async () => {
    const artifacts = await start();
    const key = freshKey();
    const sibling = { ...key, sessionId: 's2' };
    await saveTexts(artifacts, key, 'poem', 5);
    await saveTexts(artifacts, key, 'poem/1', 3);
    await saveTexts(artifacts, sibling, 'poem', 1);
    await saveTexts(artifacts, sibling, 'user:face', 4);

    expect(await artifacts.collectGarbage({ keep: 2 }, asTrial)).toBe(6);
    expect(await numbersOf(artifacts, key, 'poem')).toEqual([0, 1, 2, 3, 4]);
    expect(await artifacts.collectGarbage({ keep: 2 }, forGood)).toBe(6);
    expect(await artifacts.collectGarbage({ keep: 2 }, asTrial)).toBe(0);
    expect(await artifacts.collectGarbage({ keep: 2 }, forGood)).toBe(0);

    expect(await numbersOf(artifacts, key, 'poem')).toEqual([3, 4]);
    expect(await numbersOf(artifacts, key, 'poem/1')).toEqual([1, 2]);
    expect(await numbersOf(artifacts, sibling, 'poem')).toEqual([0]);
    expect(await numbersOf(artifacts, key, 'user:face')).toEqual([2, 3]);
    expect(await artifacts.listArtifactKeys(key)).toEqual(['poem', 'poem/1', 'user:face']);
    expect(await artifacts.loadArtifact(key, 'poem', 2)).toBeUndefined();
    expect(await artifacts.loadArtifact(key, 'poem', 3)).toEqual(text('3'));
    expect(await artifacts.loadArtifact(key, 'poem')).toEqual(text('4'));
    expect(await artifacts.saveArtifact(key, 'poem', text('new'))).toBe(5);
    expect(await artifacts.loadArtifact(key, 'poem', 5)).toEqual(text('new'));
  });

  it('deletes what was saved too long ago, but never the newest version, and nothing without a limit', async () => {
    const artifacts = await start();
    const key = freshKey();
    await saveTexts(artifacts, key, 'poem', 2);
    await saveTexts(artifacts, key, 'old', 2);
    await pause(1100); // some stores know the second
    await artifacts.saveArtifact(key, 'poem', text('young'));
    await artifacts.saveArtifact(key, 'poem', text('youngest'));
    const [, before, after] = await artifacts.listVersions(key, 'poem');
    const savedBefore = after!.createTime;

    expect(await artifacts.collectGarbage({}, forGood)).toBe(0);
    expect(await artifacts.collectGarbage({ savedBefore: before!.createTime - 60 }, forGood)).toBe(0);
    expect(await artifacts.collectGarbage({ savedBefore }, asTrial)).toBe(3);
    expect(await artifacts.collectGarbage({ savedBefore }, forGood)).toBe(3);

    expect(await numbersOf(artifacts, key, 'poem')).toEqual([2, 3]);
    expect(await numbersOf(artifacts, key, 'old')).toEqual([1]);
    expect(await artifacts.collectGarbage({ savedBefore: Date.now() / 1000 + 60, keep: 9 }, forGood)).toBe(1);
    expect(await artifacts.loadArtifact(key, 'poem')).toEqual(text('youngest'));
    expect(await artifacts.loadArtifact(key, 'old')).toEqual(text('1'));
  });

  it('counts from 0 again for an artifact that was deleted, whatever was collected before', async () => {
    const artifacts = await start();
    const key = freshKey();
    await saveTexts(artifacts, key, 'poem', 3);
    await artifacts.collectGarbage({ keep: 1 }, forGood);

    await artifacts.deleteArtifact(key, 'poem');

    expect(await artifacts.saveArtifact(key, 'poem', text('anew'))).toBe(0);
    expect(await artifacts.collectGarbage({ keep: 1 }, forGood)).toBe(0);
    expect(await artifacts.loadArtifact(key, 'poem', 0)).toEqual(text('anew'));
  });
}

function races(start: Start): void {
  it('gives no number twice and always has a newest version, while others save and load', async () => {
    const [artifacts, collector] = [await start(), await start()];
    const key = freshKey();
    const saved = new Map<number, string>();
    await artifacts.saveArtifact(key, 'poem', text('first'));
    const saving = new AbortController();
    const save = async (who: number): Promise<void> => {
      for (let time = 0; time < 6; time += 1) {
        const words = `${who} ${time}`;
        const version = await artifacts.saveArtifact(key, 'poem', text(words));
        expect(saved.get(version)).toBeUndefined();
        saved.set(version, words);
      }
    };
    const collect = async (): Promise<void> => {
      while (!saving.signal.aborted) await collector.collectGarbage({ keep: 1 }, forGood);
    };
    const load = async (): Promise<void> => {
      while (!saving.signal.aborted) {
        expect((await artifacts.loadArtifact(key, 'poem'))?.text).toMatch(/^(?:first|\d \d)$/);
        await pause(1);
      }
    };

    const saves = Promise.all([0, 1, 2].map(save)).finally(() => saving.abort());
    await Promise.all([saves, collect(), load()]);
    await collector.collectGarbage({ keep: 1 }, forGood);

    const newest = Math.max(...saved.keys());
    expect(await numbersOf(artifacts, key, 'poem')).toEqual([newest]);
    expect(await artifacts.loadArtifact(key, 'poem')).toEqual(text(saved.get(newest)!));
    expect(await artifacts.saveArtifact(key, 'poem', text('last'))).toBe(newest + 1);
  });

  it('stops when it is told to', async () => {
    const artifacts = await start();
    await saveTexts(artifacts, freshKey(), 'poem', 2);

    const stopped = artifacts.collectGarbage({ keep: 1 }, { signal: AbortSignal.abort(), isTrial: false });

    await expect(stopped).rejects.toMatchObject({ name: 'AbortError' });
  });
}
