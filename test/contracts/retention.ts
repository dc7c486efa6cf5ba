import { afterEach, describe, expect, it } from 'vitest';
import { AppError } from '../../src/base/errors.ts';
import type { SessionService } from '../../src/core/services.ts';
import type { SessionKey } from '../../src/schemas/session.ts';
import { InMemoryArtifacts } from '../../src/services/artifacts/in-memory.ts';
import { InMemoryMemories } from '../../src/services/memories/in-memory.ts';
import { type Archive, collectGarbage } from '../../src/services/retention.ts';
import { freshOwner, saying } from '../../src/testing/contracts/events.ts';

type Store = SessionService & Archive;

/**
 * What a session store promises that can be cleaned and exported. `open` opens an empty store; `ownClock` is for one that
 * takes nobody's word for a time in the past.
 */
export function retentionContract(name: string, open: () => Promise<Store>, { ownClock = false } = {}): void {
  const oddTimes = [1970, 1999, new Date().getUTCFullYear() + 2].slice(ownClock ? -1 : 0);
  describe(`${name} as an archive`, () => {
    const opened: Store[] = [];
    const filled = async (count: number): Promise<{ sessions: Store; keys: SessionKey[] }> => {
      const sessions = await open();
      opened.push(sessions);
      const keys: SessionKey[] = [];
      for (let index = 0; index < count; index += 1) {
        const owner = freshOwner();
        await sessions.createSession(owner, { sessionId: `s${index}` });
        keys.push({ ...owner, sessionId: `s${index}` });
      }
      return { sessions, keys };
    };
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close?.();
    });
    const { signal } = new AbortController();
    const left = async (sessions: Store): Promise<string[]> =>
      (await Array.fromAsync(sessions.allSessions())).map(({ sessionId }) => sessionId);

    it('names all sessions, in the order they were created', async () => {
      const { sessions, keys } = await filled(3);
      const owner = freshOwner();
      await sessions.createSession(owner, { sessionId: '___eval___session___1' });

      const all = await Array.fromAsync(sessions.allSessions());

      expect(all).toEqual([...keys, { ...owner, sessionId: '___eval___session___1' }]);
    });

    it('keeps the sessions that were written to last, with what belongs to them', async () => {
      const { sessions, keys } = await filled(4);
      const artifacts = new InMemoryArtifacts();
      const memories = new InMemoryMemories();
      const later = { timestamp: Date.now() / 1000 + 60 };
      await sessions.appendEvent((await sessions.getSession(keys[1]!))!, saying('tea', {}, later));
      for (const key of keys) {
        await artifacts.saveArtifact(key, 'note', { text: 'x' });
        await memories.addSessionToMemory({ ...(await sessions.getSession(key))!, events: [saying('tea')] });
      }

      const trial = await collectGarbage({ sessions }, { maxSessions: 2 }, { signal, isTrial: true });
      const done = await collectGarbage({ sessions, artifacts, memories }, { maxSessions: 2 }, { signal });

      expect(trial.sessions.map(({ sessionId }) => sessionId).toSorted()).toEqual(['s0', 's2']);
      expect(done.sessions).toEqual(trial.sessions);
      expect(await left(sessions)).toEqual(['s1', 's3']);
      expect(await artifacts.listArtifactKeys(keys[0]!)).toEqual([]);
      expect(await memories.searchMemory(keys[0]!, 'tea')).toEqual([]);
      expect(await artifacts.listArtifactKeys(keys[1]!)).toEqual(['note']);
    });

    it('deletes what was not written to for the time to live, and nothing without a limit', async () => {
      const { sessions, keys } = await filled(2);
      const later = { timestamp: Date.now() / 1000 + 3600 };
      await sessions.appendEvent((await sessions.getSession(keys[0]!))!, saying('x', {}, later));

      expect((await collectGarbage({ sessions }, {}, { signal })).sessions).toEqual([]);
      expect((await collectGarbage({ sessions }, { sessionTtlMs: 60_000 }, { signal })).sessions).toEqual([]);
      // As if half an hour had passed.
      const done = await collectGarbage({ sessions }, { sessionTtlMs: -1_800_000 }, { signal });

      expect(done.sessions).toEqual([keys[1]]);
      expect(await left(sessions)).toEqual(['s0']);
    });

    it.each(oddTimes)('deletes nothing at all while a session is of the year %i, and says so', async (year) => {
      const { sessions, keys } = await filled(1);
      const artifacts = new InMemoryArtifacts();
      for (const text of ['one', 'two']) await artifacts.saveArtifact(keys[0]!, 'note', { text });
      const lastUpdateTime = Date.UTC(year, 6) / 1000;
      const events = [saying('x', {}, { timestamp: lastUpdateTime })];
      await sessions.createSession(freshOwner(), { sessionId: 'odd', lastUpdateTime, events });

      for (const limits of [{ sessionTtlMs: -1_800_000 }, { maxSessions: 1 }]) {
        const done = collectGarbage({ sessions, artifacts }, { ...limits, maxArtifactVersions: 1 }, { signal });
        await expect(done).rejects.toMatchObject({
          code: 'ConfigurationException',
          message: expect.stringContaining('Session "odd"'),
        });
      }

      expect(await left(sessions)).toEqual(['s0', 'odd']);
      expect(await artifacts.listVersions(keys[0]!, 'note')).toHaveLength(2);
    });

    it('finds a session again whose artifacts could not be deleted', async () => {
      const { sessions } = await filled(1);
      const artifacts = new InMemoryArtifacts();
      artifacts.deleteSessionArtifacts = () => Promise.reject(new AppError('unavailable', 'The disk is away'));

      const failed = collectGarbage({ sessions, artifacts }, { sessionTtlMs: -60_000 }, { signal });

      await expect(failed).rejects.toMatchObject({ code: 'unavailable' });
      expect((await collectGarbage({ sessions }, { sessionTtlMs: -60_000 }, { signal })).sessions).toHaveLength(1);
    });
  });
}
