import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { newEvent } from '../../src/core/events/new-event.ts';
import { type NewRun, type EnqueuedRun, ranks, type RunStore } from '../../src/core/run-store.ts';
import type { RunKey } from '../../src/core/runs.ts';
import type { SessionService } from '../../src/core/services.ts';
import type { Session } from '../../src/schemas/session.ts';

/** Two replicas that share a store, and the sessions beside it. */
export interface RunStores {
  readonly one: RunStore;
  readonly other: RunStore;
  readonly sessions: SessionService;
}

const queue = { maxOpen: 16, rank: ranks.plain };
const preempt = { maxOpen: 16, rank: ranks.preempting };
const reject = { maxOpen: 0, rank: ranks.plain };
const done = { status: 'done' } as const;

/** What every store of runs promises. */
export function runStoreContract(name: string, open: () => Promise<RunStores> | RunStores): void {
  describe(`${name} as a store of runs`, () => {
    let one: RunStore;
    let other: RunStore;
    let sessions: SessionService;
    let session: Session;
    beforeEach(async () => {
      ({ one, other, sessions } = await open());
      session = await sessions.createSession({ appName: 'app', userId: 'u' });
      await Promise.all([one.heartbeat(), other.heartbeat()]);
    });

    const key = (runId: string = `e-${randomUUID()}`): RunKey => ({
      appName: 'app',
      userId: 'u',
      sessionId: session.id,
      runId,
    });
    const run = (fields: Partial<NewRun> = {}): NewRun => ({
      key: key(),
      kind: 'run',
      isDetached: true,
      input: '{}',
      isNew: true,
      ...fields,
    });
    const append = (text: string, { ref, fencingToken = 0 }: EnqueuedRun, eventIndex: number) => {
      const event = newEvent({ invocationId: 'e-1' }, 'a', { content: { role: 'model', parts: [{ text }] } });
      return sessions.appendEvent(session, event, { session: ref.session, runId: ref.id, fencingToken, eventIndex });
    };

    it('has one secret for all that share it, made once', async () => {
      const secrets = await Promise.all([one.secret(), other.secret(), one.secret()]);

      expect(new Set(secrets).size).toBe(1);
      expect(secrets[0]?.length).toBeGreaterThanOrEqual(32);
    });

    it('begins a run when nobody is before it, and the next one after it', async () => {
      const first = await one.enqueue(run(), queue);
      const second = await other.enqueue(run(), queue);

      expect(first.fencingToken).toEqual(expect.any(Number));
      expect(second.fencingToken).toBeUndefined();
      expect(await other.tryStart(second.ref)).toBe('waiting');
      await one.finish(first.ref, first.fencingToken, done);
      expect(await other.tryStart(second.ref)).toMatchObject({
        fencingToken: (first.fencingToken ?? 0) + 1,
        isSuperseded: false,
      });
    });

    it('lets runs begin in the order they came, but for those that go first', async () => {
      const first = await one.enqueue(run(), queue);
      const second = await one.enqueue(run(), queue);
      const third = await other.enqueue(run(), queue);
      const hasty = await other.enqueue(run(), { maxOpen: 16, rank: ranks.preempting });
      await one.finish(first.ref, first.fencingToken, done);

      expect(await one.tryStart(second.ref)).toBe('waiting');
      expect(await other.tryStart(third.ref)).toBe('waiting');
      expect(await other.tryStart(hasty.ref)).toMatchObject({ fencingToken: expect.any(Number) });
    });

    it('lets runs that go first begin in the order they came, behind holds, and says who has another behind it', async () => {
      const first = await one.enqueue(run(), queue);
      const plain = await one.enqueue(run(), queue);
      const hasty = await one.enqueue(run(), preempt);
      const hastier = await other.enqueue(run(), preempt);
      const hold = await one.enqueue(run({ kind: 'exclusive' }), { maxOpen: 16, rank: ranks.exclusive });
      await one.finish(first.ref, first.fencingToken, done);

      const begun = [];
      for (const [store, { ref }] of [
        [one, hold],
        [one, hasty],
        [other, hastier],
        [one, plain],
      ] as const) {
        const result = await store.tryStart(ref);
        begun.push(result);
        if (typeof result === 'object') await store.finish(ref, result.fencingToken, done);
      }

      expect(begun).toMatchObject([{}, { isSuperseded: true }, { isSuperseded: false }, { isSuperseded: false }]);
    });

    it('takes back the last run that ran before, of those that one run takes the place of', async () => {
      const runs = [run(), run({ rollsBackActive: true }), run({ rollsBackActive: true })];
      const first = await one.enqueue(runs[0]!, queue);
      const second = await other.enqueue(runs[1]!, preempt);
      const third = await one.enqueue(runs[2]!, preempt);
      await one.finish(first.ref, first.fencingToken, done);

      const begun = await other.tryStart(second.ref);
      expect(begun).toMatchObject({ rollbackOf: runs[0]!.key.runId, isSuperseded: true });
      await other.finish(second.ref, (begun as { fencingToken: number }).fencingToken, done);
      expect(await one.tryStart(third.ref)).toMatchObject({ rollbackOf: runs[1]!.key.runId, isSuperseded: false });
    });

    it('asks all runs of a session to end, and knows none of a deleted one', async () => {
      const first = await one.enqueue(run(), queue);
      const second = await other.enqueue(run(), queue);
      const hold = await one.enqueue(run({ kind: 'exclusive' }), queue);

      await one.cancelAll(first.ref.session, 'session_not_found');
      const flags = [...(await one.heartbeat()), ...(await other.heartbeat())];
      expect(flags).toEqual([first, second].map(({ ref }) => ({ ref, reason: 'session_not_found' })));
      await sessions.deleteSession(key());
      const again = await sessions.createSession({ appName: 'app', userId: 'u' }, { sessionId: session.id });

      expect(await one.tryStart(hold.ref)).toBe('session_deleted');
      expect(await one.list(key(), 10)).toEqual([]);
      await expect(append('late', first, 0)).rejects.toMatchObject({ code: 'session_not_found' });
      const { fencingToken } = await one.enqueue(run(), queue);
      expect(fencingToken).toBe(first.fencingToken);
      session = again;
      await expect(append('late', first, 0)).rejects.toMatchObject({ code: 'session_not_found' });
    });

    it('takes one of many runs that want to be alone, and no more than may wait', async () => {
      const entered = await Promise.allSettled(
        Array.from({ length: 10 }, (_, index) => (index % 2 ? one : other).enqueue(run(), reject)),
      );
      expect(entered.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      const reasons = entered.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
      expect(reasons).toEqual(reasons.map(() => expect.objectContaining({ code: 'session_busy', retryAfter: 1 })));

      await one.enqueue(run(), { maxOpen: 1, rank: ranks.plain });
      await expect(one.enqueue(run(), { maxOpen: 1, rank: ranks.plain })).rejects.toMatchObject({ code: 'queue_full' });
      await expect(one.enqueue(run({ key: { ...key(), sessionId: 'none' } }), queue)).rejects.toMatchObject({
        code: 'session_not_found',
      });
    });

    it('stores nothing for a run that has lost its session', async () => {
      const first = await one.enqueue(run(), queue);
      await append('mine', first, 0);
      await one.release([first.ref]);
      const [taken] = await other.takeOver(() => [], true);

      await expect(append('late', first, 1)).rejects.toMatchObject({ code: 'session_changed' });
      expect(taken).toMatchObject({ ref: first.ref, appendedEvents: 1, takeovers: 1, kind: 'run', isDetached: true });
      await one.finish(first.ref, first.fencingToken, done);
      expect((await other.find(taken!.key))?.run.status).toBe('running');
      await other.finish(first.ref, taken!.fencingToken, done);
      expect((await other.find(taken!.key))?.run.status).toBe('done');
    });

    it('takes over what waits, too, and nothing that is known', async () => {
      const first = await one.enqueue(run(), queue);
      const second = await one.enqueue(run(), queue);
      const known = [first.ref, second.ref].map(({ id }) => id.slice(id.indexOf('/') + 1));
      expect(await one.takeOver(() => known, true)).toEqual([]);
      await one.release([first.ref, second.ref]);

      const taken = await other.takeOver(() => [], true);

      expect(taken.map(({ ref, fencingToken, takeovers }) => [ref.id, typeof fencingToken, takeovers])).toEqual([
        [first.ref.id, 'number', 1],
        [second.ref.id, 'undefined', 0],
      ]);
      expect(await one.tryStart(second.ref)).toBe('not_owner');
    });

    it('leaves alone what its own replica enters while it looks for the lost', async () => {
      const entered = run();
      await one.enqueue(entered, queue);
      const known: string[] = [];
      const adopted = one.takeOver(() => [...known], true);
      known.push(entered.key.runId);

      expect(await adopted).toEqual([]);
    });

    it('tells a run that it shall end, and who has it', async () => {
      const first = await one.enqueue(run(), queue);

      expect(await other.cancel(first.ref, 'run_cancelled')).toBe(one.replicaId);
      expect(await one.heartbeat()).toEqual([{ ref: first.ref, reason: 'run_cancelled' }]);
      await one.finish(first.ref, first.fencingToken, {
        status: 'cancelled',
        error: { code: 'run_cancelled', message: 'm' },
      });
      expect(await other.cancel(first.ref, 'run_cancelled')).toBeUndefined();
      expect(await other.cancelActive(first.ref.session, 'run_interrupted')).toBeUndefined();
    });

    it('remembers which run another one takes back', async () => {
      const first = await one.enqueue(run(), queue);
      const hasty = await one.enqueue(run({ rollsBackActive: true }), preempt);
      const named = await one.enqueue(run({ kind: 'exclusive', rollbackOf: 'e-1' }), queue);
      const current = await one.cancelActive(first.ref.session, 'run_interrupted');
      await one.finish(first.ref, first.fencingToken, { status: 'interrupted' });
      await one.release([hasty.ref, named.ref]);

      const taken = await other.takeOver(() => [], true);

      expect(taken.map(({ ref, rollbackOf }) => [ref.id, rollbackOf])).toEqual([
        [hasty.ref.id, current?.run.id],
        [named.ref.id, 'e-1'],
      ]);
      expect(current?.ref).toEqual(first.ref);
    });

    it('ends a run that never began, and lets the others move up', async () => {
      const first = await one.enqueue(run(), queue);
      const second = await one.enqueue(run(), queue);
      const third = await one.enqueue(run(), queue);
      await one.finish(second.ref, undefined, { status: 'cancelled' });
      await one.finish(first.ref, first.fencingToken, done);

      expect(await one.tryStart(second.ref)).toBe('not_owner');
      expect(await one.tryStart(third.ref)).toMatchObject({ fencingToken: expect.any(Number) });
    });

    it('shows runs as they are, the newest first, and forgets those that never were', async () => {
      const [a, b, c] = [run(), run(), run({ kind: 'exclusive' })];
      const first = await one.enqueue(a, queue);
      const error = { code: 'model_failed', message: 'No' };
      await one.finish(first.ref, first.fencingToken, { status: 'failed', error });
      const second = await one.enqueue(b, queue);
      await one.enqueue(c, queue);

      const list = await other.list(key(), 10);
      expect(list.map((stored) => [stored.run.id, stored.run.status])).toEqual([
        [b.key.runId, 'running'],
        [a.key.runId, 'failed'],
      ]);
      expect(list[1]?.run).toMatchObject({ error, endedAt: expect.any(Number), startedAt: expect.any(Number) });
      expect(list[0]?.run.createdAt).toBeCloseTo(Date.now() / 1000, -2);
      await one.finish(second.ref, second.fencingToken, undefined);
      expect(await other.find(b.key)).toBeUndefined();
    });

    it('keeps one run for an idempotency key of a session', async () => {
      const first = run({ idempotencyKey: 'k', fingerprint: 'f' });
      const entered = await Promise.allSettled([
        one.enqueue(first, queue),
        other.enqueue(run({ idempotencyKey: 'k', fingerprint: 'f' }), queue),
      ]);

      expect(entered.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      expect(entered.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'run_exists' } });
      expect(await other.findByIdempotencyKey(key(), 'k')).toMatchObject({ fingerprint: 'f' });
      expect(await other.findByIdempotencyKey(key(), 'other')).toBeUndefined();
    });

    it('says when a run was created and begun as its record has it', async () => {
      const first = await one.enqueue(run({ key: key('e-first') }), queue);
      const second = await one.enqueue(run({ key: key('e-second') }), queue);
      await one.finish(first.ref, first.fencingToken, done);
      const begun = await one.tryStart(second.ref);

      const times = async (runId: string): Promise<unknown> => {
        const { createdAt, startedAt } = (await other.find(key(runId)))!.run;
        return { createdAt, startedAt };
      };
      const { createdAtMs, startedAtMs = 0 } = first;
      expect(await times('e-first')).toEqual({ createdAt: createdAtMs / 1000, startedAt: startedAtMs / 1000 });
      expect(begun).toMatchObject({ fencingToken: expect.any(Number) });
      expect(await times('e-second')).toEqual({
        createdAt: second.createdAtMs / 1000,
        startedAt: (begun as { startedAtMs: number }).startedAtMs / 1000,
      });
    });

    it('forgets runs that are over for long enough, with their keys, and no others', async () => {
      const ended = ['done', 'failed', 'cancelled', 'interrupted'] as const;
      const old = ended.map((status) => run({ idempotencyKey: status, key: key(`e-${status}`) }));
      for (const [place, status] of ended.entries()) {
        const { ref, fencingToken } = await one.enqueue(old[place]!, queue);
        await one.finish(ref, fencingToken, { status });
      }
      const waiting = await one.enqueue(run({ key: key('e-waiting') }), queue);
      await one.finish(waiting.ref, waiting.fencingToken, { status: 'waiting' });
      const running = await one.enqueue(run({ key: key('e-running') }), queue);
      await one.enqueue(run({ key: key('e-queued') }), queue);
      const { signal } = new AbortController();
      const collect = (endedBeforeMs: number, isTrial = false): Promise<number> =>
        one.collectGarbage(endedBeforeMs, { signal, isTrial });
      const ids = async (): Promise<string[]> => (await other.list(key(), 10)).map((stored) => stored.run.id);

      expect(await collect(Date.now() - 60_000)).toBe(0);
      expect(await collect(Date.now() + 60_000, true)).toBe(4);
      expect(await ids()).toHaveLength(7);
      expect(await collect(Date.now() + 60_000)).toBe(4);

      expect(await ids()).toEqual(['e-queued', 'e-running', 'e-waiting']);
      expect(await other.find(old[0]!.key)).toBeUndefined();
      expect(await other.findByIdempotencyKey(key(), 'done')).toBeUndefined();
      await one.finish(running.ref, running.fencingToken, done);
      const again = await other.enqueue(run({ idempotencyKey: 'done', key: key('e-done'), isNew: false }), queue);
      expect(again.ref.id).toContain('e-done');
      const stopped = one.collectGarbage(0, { signal: AbortSignal.abort(), isTrial: false });
      await expect(stopped).rejects.toMatchObject({ name: 'AbortError' });
    });

    it('looks for old runs behind young ones, too', async () => {
      const first = await one.enqueue(run({ key: key('e-long') }), queue);
      for (let count = 0; count < 3; count += 1) {
        const { ref } = await one.enqueue(run(), queue);
        await one.finish(ref, undefined, { status: 'cancelled' });
      }
      const { signal } = new AbortController();

      expect(await other.collectGarbage(Date.now() + 60_000, { signal, isTrial: false })).toBe(3);

      expect((await one.list(key(), 10)).map((stored) => stored.ref)).toEqual([first.ref]);
    });

    it('lets a run go on under its id once it is over, and not before', async () => {
      const first = run();
      const placed = await one.enqueue(first, queue);
      await append('said', placed, 0);
      await expect(other.enqueue({ ...first, isNew: false }, queue)).rejects.toMatchObject({ code: 'session_busy' });
      await one.finish(placed.ref, placed.fencingToken, done);

      const again = await other.enqueue({ ...first, isNew: false }, queue);

      expect(again).toMatchObject({ ref: placed.ref, fencingToken: expect.any(Number), appendedEvents: 1 });
      await other.finish(again.ref, again.fencingToken, done);
      expect((await one.enqueue(run(), reject)).fencingToken).toEqual(expect.any(Number));
    });
  });
}
