import { isDeepStrictEqual } from 'node:util';
import { numbers, type Replica } from '../acceptance/durable/replicas.ts';
import type { Faults } from './faults.ts';
import type { ClientLog, FollowedRun } from './log.ts';
import type { EventRow, Tables } from './tables.ts';

/** How long a run may stand still when its server is killed. */
const mostSilenceMs = 10_000;

interface StoredEvent {
  readonly id: string;
  readonly author: string;
  readonly invocationId: string;
  readonly content?: { readonly parts: readonly { readonly text?: string }[] };
}

/** What of all that clients were told is not so. */
export async function faultsFound(log: ClientLog, tables: Tables, replicas: readonly Replica[]): Promise<string[]> {
  const faults = [...log.faults, ...tableFaults(tables)];
  const bySession = Map.groupBy(tables.events, ({ session }) => session);
  for (const session of log.sessions) {
    const id = session.slice(session.lastIndexOf('/') + 1);
    const row = tables.sessions.find((one) => one.id === id);
    if (!row) {
      faults.push(`session ${id} is gone`);
      continue;
    }
    const company = tables.runs.filter((run) => run.session === row.num && log.alone.includes(session));
    for (const [index, run] of company.entries()) {
      const before = company[index - 1];
      if (before && (before.endedMs ?? Infinity) > (run.startedMs ?? Infinity))
        faults.push(`run ${run.id} was not alone`);
    }
    const stored = (bySession.get(row.num) ?? []).map(({ body }) => JSON.parse(body) as StoredEvent);
    faults.push(...historyFaults(session, stored, log));
    for (const replica of replicas) {
      const { body } = await replica.process.fetchJson(session);
      const { events } = body as { events: unknown[] };
      if (!isDeepStrictEqual(events, stored)) faults.push(`a server tells another history of ${id}`);
    }
  }
  for (const { run, status } of log.endings) {
    const now = tables.runs.find(({ invocation }) => invocation === run)?.state;
    if (now !== status) faults.push(`run ${run} was said to be ${status}, and is ${now}`);
  }
  return faults;
}

function historyFaults(session: string, stored: readonly StoredEvent[], log: ClientLog): string[] {
  const faults: string[] = [];
  const order = stored.map(({ invocationId }) => invocationId).filter((run, index, all) => run !== all[index - 1]);
  if (new Set(order).size !== order.length) faults.push(`${session} has runs that are interleaved`);
  for (const { tag, run } of log.asked.filter((asked) => asked.session === session)) {
    const times = stored.filter(({ author, content }) => author === 'user' && content?.parts[0]?.text === tag).length;
    // A run that was cancelled in line has said nothing.
    if (times > 1) faults.push(`"${tag}" was taken ${times} times (${run})`);
  }
  for (const run of log.runs.filter((one) => one.session === session)) faults.push(...runFaults(run, stored));
  const places = new Map(stored.map((event, index) => [event.id, index]));
  let last = -1;
  for (const { json } of log.plain.filter((one) => one.session === session)) {
    const told = JSON.parse(json) as StoredEvent;
    const place = places.get(told.id) ?? -1;
    if (place <= last || !isDeepStrictEqual(stored[place], told)) faults.push(`${session} lost or moved ${told.id}`);
    last = Math.max(last, place);
  }
  return faults;
}

function runFaults({ id, status, steps, shown }: FollowedRun, history: readonly StoredEvent[]): string[] {
  const faults: string[] = [];
  const name = `run ${id} (${status})`;
  if (status !== 'done') faults.push(`${name} did not get to its end`);
  const ids = shown.map((frame) => frame.id).join();
  if (ids !== shown.map((_, index) => `${id}:${index + 1}`).join()) faults.push(`${name} showed ${ids}`);
  const [message, ...said] = history.filter(({ invocationId }) => invocationId === id);
  if (message?.author !== 'user') faults.push(`${name} begins without its message`);
  for (const [index, { json }] of shown.entries()) {
    if (!isDeepStrictEqual(JSON.parse(json), said[index])) faults.push(`${name} stored another event ${index + 1}`);
  }
  const words = said.map(({ content }) => content?.parts[0]?.text).join();
  if (status === 'done' && words !== numbers(steps).join()) faults.push(`${name} stored ${words}`);
  if (status === 'done' && shown.length !== steps) faults.push(`${name} showed ${shown.length} events`);
  return faults;
}

/** What does not fit together in the database itself. */
function tableFaults({ sessions, events, adkEvents, runs, integrity }: Tables): string[] {
  const faults: string[] = integrity === 'ok' ? [] : [`integrity_check: ${integrity}`];
  const bySession = Map.groupBy(events, ({ session }) => session);
  const adkBySession = Map.groupBy(adkEvents, ({ session }) => session);
  for (const { id, num, nextSeq, queued, owner } of sessions) {
    const own = bySession.get(num) ?? [];
    if (own.some(({ seq }, index) => seq !== index + 1)) faults.push(`session ${id} has a gap`);
    if (nextSeq !== own.length + 1) faults.push(`session ${id} counts ${nextSeq - 1} events of ${own.length}`);
    if (new Set(own.map((event) => event.id)).size !== own.length) faults.push(`session ${id} has an event twice`);
    if (queued !== 0 || owner !== null) faults.push(`session ${id} counts ${queued} open runs, of ${owner}`);
    const seen = (adkBySession.get(id) ?? []).map((event) => `${event.seq} ${event.id}`);
    if (seen.join() !== own.map((event) => `${event.seq} ${event.id}`).join()) faults.push(`ADK sees another ${id}`);
  }
  for (const [run, own] of Map.groupBy(events, (event) => event.run)) {
    if (run !== null && !grows(own)) faults.push(`the steps of run ${run} are not in order`);
  }
  for (const { id, state } of runs) if (state === 'queued' || state === 'running') faults.push(`run ${id} is ${state}`);
  return faults;
}

const grows = (events: readonly EventRow[]): boolean =>
  events.every(({ step }, index) => index === 0 || (step ?? -1) > (events[index - 1]?.step ?? -1));

export interface Times {
  /**
   * From a kill to the next event of each run that stood still, where nothing else went wrong meanwhile; where nobody else
   * can go on, from the moment the server is there again.
   */
  readonly afterKills: readonly number[];
  readonly cancels: readonly number[];
  readonly interrupts: readonly number[];
  readonly longestMs: number;
}

/** What took how long, in milliseconds, in order. */
export function timesOf({ silences, waits }: ClientLog, faults: Faults, hasOthers: boolean): Times {
  const quiet = waits.filter(({ fromMs, untilMs }) => faults.during(fromMs - 10_000, untilMs).length === 0);
  const lasting = (what: string): number[] =>
    inOrder(quiet.filter((wait) => wait.what === what).map(({ fromMs, untilMs }) => untilMs - fromMs));
  const afterKills = silences.flatMap(({ fromMs, untilMs }) => {
    const [fault, ...others] = faults.during(fromMs, untilMs);
    const isAlone = others.length === 0 && fault?.kind === 'kill' && fault.fromMs > fromMs;
    return isAlone && untilMs - fromMs > 1_500 ? [untilMs - (hasOthers ? fault.fromMs : fault.untilMs)] : [];
  });
  return {
    afterKills: inOrder(afterKills),
    cancels: lasting('cancel'),
    interrupts: lasting('interrupt'),
    longestMs: Math.max(0, ...silences.map(({ fromMs, untilMs }) => untilMs - fromMs)),
  };
}

export const tooSlow = ({ afterKills }: Times): number => afterKills.filter((ms) => ms > mostSilenceMs).length;

const inOrder = (values: readonly number[]): number[] => values.toSorted((one, other) => one - other);
