import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  counterRefs,
  type LimitedCounter,
  noUsage,
  type Reservation,
  type UsageStore,
} from '../../src/core/usage-store.ts';
import type { Budget, BudgetScope } from '../../src/schemas/budget.ts';

/** Two servers that share a store of usage. */
export interface UsageStores {
  readonly one: UsageStore;
  readonly other: UsageStore;
}

/** What every store of usage promises. */
export function usageStoreContract(name: string, open: () => Promise<UsageStores> | UsageStores): void {
  describe(`${name} as a store of usage`, () => {
    let one: UsageStore;
    let other: UsageStore;
    let key: { appName: string; userId: string; sessionId: string; runId: string };
    beforeEach(async () => {
      ({ one, other } = await open());
      key = { appName: randomUUID(), userId: 'u', sessionId: 's', runId: 'r' };
    });

    const counter = (scope: BudgetScope, budget: Budget): LimitedCounter => {
      const ref = counterRefs(key, Date.now())[scope];
      if (!ref) throw new Error(`No counter of ${scope}`);
      return { ...ref, budget };
    };
    const modelCall = (counters: readonly LimitedCounter[], least: number, fields: Partial<Reservation> = {}) => ({
      id: randomUUID(),
      counters,
      checks: ['tokens', 'cost', 'modelCalls', 'wallTimeMs'] as const,
      wallTimeMs: 0,
      call: 'modelCalls' as const,
      estimate: { least: { tokens: least, cost: 0 }, most: { tokens: least, cost: 0 } },
      lifetimeMs: 60_000,
      ...fields,
    });
    const used = async (...counters: readonly LimitedCounter[]) => other.read(counters);

    it('counts a call when it begins, and what it used when it ends, for both servers', async () => {
      const counters = [counter('run', { modelCalls: 2 }), counter('userDay', { tokens: 1_000 })];
      const call = modelCall(counters, 10);

      expect(await one.reserve(call)).toEqual({ status: 'granted' });
      expect(await used(...counters)).toEqual([
        { ...noUsage, modelCalls: 1 },
        { ...noUsage, modelCalls: 1 },
      ]);
      await one.settle({ reservationId: call.id, counters, used: { tokens: 120, cost: 0.5 } });

      const sum = { ...noUsage, modelCalls: 1, tokens: 120, cost: 0.5 };
      expect(await used(...counters)).toEqual([sum, sum]);
    });

    it('refuses a call whose estimate does not fit, in any of its counters, and counts nothing but its time', async () => {
      const counters = [counter('session', { tokens: 1_000 }), counter('userDay', { tokens: 100 })];
      await one.settle({ counters, used: { tokens: 95 } });

      expect(await other.reserve(modelCall(counters, 6, { wallTimeMs: 7 }))).toEqual({
        status: 'exceeded',
        exceeded: { scope: 'userDay', kind: 'tokens', limit: 100, used: 95, needed: 6 },
      });
      expect(await used(...counters)).toEqual([
        { ...noUsage, tokens: 95, wallTimeMs: 7 },
        { ...noUsage, tokens: 95, wallTimeMs: 7 },
      ]);
      expect(await other.reserve(modelCall(counters, 5))).toEqual({ status: 'granted' });
    });

    it('refuses each kind of budget that is used up, and only where it is asked for', async () => {
      const counters = [counter('run', { toolCalls: 1, wallTimeMs: 50, cost: 1 })];
      const tool = { checks: ['toolCalls', 'wallTimeMs'], call: 'toolCalls', wallTimeMs: 0 } as const;
      const { estimate: _, ...plain } = modelCall(counters, 0);
      const first = { ...plain, ...tool, id: 'a' };

      expect(await one.reserve(first)).toEqual({ status: 'granted' });
      expect(await one.reserve({ ...first, id: 'b' })).toMatchObject({ exceeded: { kind: 'toolCalls', used: 1 } });
      expect(await one.reserve(modelCall(counters, 1, { id: 'c' }))).toEqual({ status: 'granted' });
      await one.settle({ reservationId: 'c', counters, used: { cost: 1.25 } });
      expect(await one.reserve(modelCall(counters, 1))).toMatchObject({ exceeded: { kind: 'cost', used: 1.25 } });
      const late = { ...first, id: 'd', checks: ['wallTimeMs'] as const, wallTimeMs: 50 };
      expect(await one.reserve(late)).toMatchObject({ exceeded: { kind: 'wallTimeMs', used: 50 } });
    });

    it('lets calls wait for those under way as long as they might not fit together', async () => {
      const counters = [counter('session', { tokens: 1_000 })];
      const most = { tokens: 600, cost: 0 };
      const call = (): Reservation => modelCall(counters, 10, { estimate: { least: { tokens: 10, cost: 0 }, most } });
      const [first, second] = [call(), call()];

      expect(await one.reserve(first)).toEqual({ status: 'granted' });
      expect(await other.reserve(second)).toEqual({ status: 'busy' });
      await one.settle({ reservationId: first.id, counters, used: { tokens: 300 } });
      expect(await other.reserve(second)).toEqual({ status: 'granted' });
      expect(await one.reserve(call())).toEqual({ status: 'busy' });
    });

    it('exceeds a budget by at most the call in flight while two servers race', async () => {
      const counters = [counter('appDay', { tokens: 10_000 })];
      const most = { tokens: 8_192, cost: 0 };
      let inFlight = 0;
      let granted = 0;
      const client = async (store: UsageStore): Promise<string> => {
        for (;;) {
          const call = modelCall(counters, 5, { estimate: { least: { tokens: 5, cost: 0 }, most } });
          const admission = await store.reserve(call);
          if (admission.status === 'exceeded') return admission.exceeded.kind;
          if (admission.status === 'busy') continue;
          granted += 1;
          inFlight += 1;
          await store.settle({ reservationId: call.id, counters, used: { tokens: 999 } });
          inFlight -= 1;
        }
      };

      expect(await Promise.all([client(one), client(one), client(other), client(other)])).toEqual(
        Array<string>(4).fill('tokens'),
      );
      expect(inFlight).toBe(0);
      expect(granted).toBe(11);
      expect(await used(...counters)).toMatchObject([{ tokens: 10_989 }]);
    });

    it('loses no count of many servers at once', async () => {
      const counters = [counter('session', { modelCalls: 25 }), counter('userDay', { modelCalls: 1_000 })];
      const backwards = counters.toReversed();
      const { estimate: _, ...call } = modelCall(counters, 0);

      const admissions = await Promise.all(
        Array.from({ length: 40 }, (_unused, index) =>
          (index % 2 ? one : other).reserve({ ...call, id: `${index}`, counters: index % 3 ? counters : backwards }),
        ),
      );

      expect(admissions.filter(({ status }) => status === 'granted')).toHaveLength(25);
      expect(await used(...counters)).toMatchObject([{ modelCalls: 25 }, { modelCalls: 25 }]);
    });

    it('gives up what a call holds when its run is over in any case, or taken over', async () => {
      const counters = [counter('session', { tokens: 100 })];
      const hold = (id: string, lifetimeMs: number) => one.reserve(modelCall(counters, 90, { id, lifetimeMs }));

      expect(await hold('dead/1', -1)).toEqual({ status: 'granted' });
      expect(await hold('lost/1', 60_000)).toEqual({ status: 'granted' });
      expect(await hold('next/1', 60_000)).toEqual({ status: 'busy' });
      await other.releaseAll(counters, 'lost/');
      expect(await hold('next/1', 60_000)).toEqual({ status: 'granted' });
    });

    it('deletes the counters of a session and its runs, and keeps those of days', async () => {
      const counters = [counter('run', {}), counter('session', {}), counter('userDay', {})];
      await one.settle({ counters, used: { tokens: 5 } });

      await other.deleteSessionUsage({ ...key, sessionId: 'another' });
      expect(await used(...counters)).toMatchObject([{ tokens: 5 }, { tokens: 5 }, { tokens: 5 }]);
      await other.deleteSessionUsage(key);

      expect(await used(...counters)).toMatchObject([noUsage, noUsage, { tokens: 5 }]);
    });

    it('keeps counters that are in use when it collects garbage', async () => {
      const counters = [counter('userDay', {})];
      await one.settle({ counters, used: { tokens: 5 } });

      await one.collectGarbage();

      expect(await used(...counters)).toMatchObject([{ tokens: 5 }]);
    });
  });
}
