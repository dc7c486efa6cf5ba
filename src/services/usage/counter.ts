import {
  type Admission,
  type CounterRef,
  type ExceededBudget,
  type LimitedCounter,
  noUsage,
  type Reservation,
  type Settlement,
  type Usage,
} from '../../core/usage-store.ts';
import type { Budget } from '../../schemas/budget.ts';
import type { SessionKey } from '../../schemas/session.ts';

/** What a store keeps of a counter, as JSON. */
export interface Counter {
  readonly used: Usage;
  /** What calls under way hold, by the ids of their reservations. */
  readonly held: Readonly<Record<string, Held>>;
  /** What the largest call so far used. */
  readonly largest: Amount;
}

type Amount = Pick<Usage, 'tokens' | 'cost'>;

interface Held extends Amount {
  /** In milliseconds since the epoch. */
  readonly until: number;
}

export const newCounter: Counter = { used: noUsage, held: {}, largest: { tokens: 0, cost: 0 } };

/** A decision, and the counters after it, in the order of those before. */
export interface Decision {
  readonly admission: Admission;
  readonly counters: readonly Counter[];
}

const measured = ['tokens', 'cost'] as const;

/**
 * Decides on a reservation. A call is granted if the most it may use fits beside what the calls under way hold. If that
 * does not fit, the call waits until it is the only one, and is granted if the least it uses fits. So a budget is exceeded
 * by at most one call.
 */
export function decide(before: readonly Counter[], reservation: Reservation, nowMs: number): Decision {
  const { counters, wallTimeMs, call, estimate, id, lifetimeMs } = reservation;
  const counted = before.map((counter) => withUsage(withoutExpired(counter, nowMs), { wallTimeMs }));
  let isBusy = false;
  for (const [index, limited] of counters.entries()) {
    const counter = counted[index] ?? newCounter;
    const exceeded = exceededIn(counter, limited, reservation);
    if (exceeded) return { admission: { status: 'exceeded', exceeded }, counters: counted };
    isBusy ||= estimate !== undefined && isCrowded(counter, limited.budget, estimate.most);
  }
  if (isBusy) return { admission: { status: 'busy' }, counters: counted };
  const granted = counted.map((counter) => {
    const called = call ? withUsage(counter, { [call]: 1 }) : counter;
    if (!estimate) return called;
    // A call may be as large as the largest so far.
    const held = { ...larger(called.largest, estimate.most), until: nowMs + lifetimeMs };
    return { ...called, held: { ...called.held, [id]: held } };
  });
  return { admission: { status: 'granted' }, counters: granted };
}

function exceededIn(
  { used }: Counter,
  { scope, budget }: LimitedCounter,
  { checks, estimate }: Reservation,
): ExceededBudget | undefined {
  for (const kind of checks) {
    const limit = budget[kind];
    if (limit === undefined) continue;
    const needed = kind === 'tokens' || kind === 'cost' ? (estimate?.least[kind] ?? 0) : 0;
    if (used[kind] >= limit || used[kind] + needed > limit) return { scope, kind, limit, used: used[kind], needed };
  }
  return undefined;
}

/** Whether a call has to wait for those under way. */
function isCrowded({ used, held, largest }: Counter, budget: Budget, estimated: Amount): boolean {
  const others = Object.values(held);
  if (others.length === 0) return false;
  const most = larger(largest, estimated);
  return measured.some((kind) => {
    const sum = others.reduce((total, amount) => total + amount[kind], used[kind] + most[kind]);
    return sum > (budget[kind] ?? Infinity);
  });
}

const larger = (one: Amount, other: Amount): Amount => ({
  tokens: Math.max(one.tokens, other.tokens),
  cost: Math.max(one.cost, other.cost),
});

/** The counter after a call, or after time has passed. */
export function settled(counter: Counter, { reservationId, used }: Settlement): Counter {
  const after = withUsage(counter, used);
  if (reservationId === undefined) return after;
  const { [reservationId]: _over, ...held } = after.held;
  return { ...after, held, largest: larger(after.largest, { tokens: used.tokens ?? 0, cost: used.cost ?? 0 }) };
}

/** The counter without what a run holds. */
export const released = (counter: Counter, idPrefix: string): Counter => ({
  ...counter,
  held: Object.fromEntries(Object.entries(counter.held).filter(([id]) => !id.startsWith(idPrefix))),
});

function withoutExpired(counter: Counter, nowMs: number): Counter {
  const held = Object.entries(counter.held);
  if (held.every(([, { until }]) => until > nowMs)) return counter;
  return { ...counter, held: Object.fromEntries(held.filter(([, { until }]) => until > nowMs)) };
}

function withUsage(counter: Counter, added: Partial<Usage>): Counter {
  const { used } = counter;
  const sum = (kind: keyof Usage): number => used[kind] + (added[kind] ?? 0);
  return {
    ...counter,
    used: {
      tokens: sum('tokens'),
      cost: sum('cost'),
      modelCalls: sum('modelCalls'),
      toolCalls: sum('toolCalls'),
      wallTimeMs: sum('wallTimeMs'),
    },
  };
}

/** How a session is named in a column. */
export const sessionName = ({ appName, userId, sessionId }: SessionKey): string =>
  JSON.stringify([appName, userId, sessionId]);

/** The session that a counter is deleted with. */
export const sessionColumn = ({ session }: CounterRef): string | null => (session ? sessionName(session) : null);
