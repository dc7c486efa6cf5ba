import { randomUUID } from 'node:crypto';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { AppError } from '../../base/errors.ts';
import { yieldWhenDue } from '../../base/event-loop.ts';
import { deepFreeze, type JsonObject, toJson } from '../../base/json.ts';
import { markImported } from '../../core/events/imported-events.ts';
import type { AppendFencing, EventPage, NewSession, SessionReading, SessionService } from '../../core/services.ts';
import { type Event, rememberEventJson, storedEventJson } from '../../schemas/event.ts';
import type { ListEventsResponse } from '../../schemas/records.ts';
import {
  isEvaluationSession,
  type Generation,
  generation,
  type GetSessionConfig,
  keyOf,
  type Session,
  type SessionKey,
  type SessionOwner,
  type State,
} from '../../schemas/session.ts';
import { adkMs } from '../adk-time.ts';
import type { Archive, RetentionLimits } from '../retention.ts';
import { fromEventData, toEventData } from './adk-event.ts';
import { HistoryCache } from './history-cache.ts';
import {
  type EventRow,
  type PlacedKey,
  type SessionRow,
  type SessionTables,
  sizeOf,
  type StoredEventRow,
  type TimedEventRow,
} from './session-tables.ts';
import { checkDelta, checkState } from './state-limits.ts';
import { applyDelta, mergeState, splitState, stateChanges } from './state-scopes.ts';
import { pageAnswer, pageRange, storedEvent, windowOf } from './stored-history.ts';

/** Events per read, so that a long history does not block other work. */
const eventsAtOnce = 500;
const bytesAtOnce = 4 * 1024 * 1024;

/**
 * Stores sessions in the tables of a database. An event is stored when its transaction is committed. Caches histories, and
 * reads only new events.
 */
export class SqlSessions implements SessionService, Archive {
  readonly #tables: SessionTables;
  readonly #cache: HistoryCache;

  constructor(tables: SessionTables, cache = new HistoryCache()) {
    this.#tables = tables;
    this.#cache = cache;
  }

  async createSession({ appName, userId }: SessionOwner, options: NewSession = {}): Promise<Session> {
    const sessionId = options.sessionId?.trim() ? options.sessionId : randomUUID();
    const events = (options.events ?? []).filter((event) => !event.partial).map(storedEvent);
    const state = deepFreeze(toJson(options.state ?? {})) as JsonObject;
    const own: JsonObject = {};
    applyDelta(own, splitState(state).session);
    const initialState = Object.keys(own).length === 0 ? null : JSON.stringify(own);
    for (const event of events) applyDelta(own, splitState(event.actions.stateDelta).session);
    checkState(state);
    checkState(own);
    const { imported = 0 } = options;
    markImported(events, imported);
    await yieldWhenDue();
    const rows = inTime(events.map(rowOf));
    await yieldWhenDue();
    const written = options.lastUpdateTime ?? Date.now() / 1000;
    const lastUpdateTime = events.reduce((latest, event) => Math.max(latest, event.timestamp), written);
    await this.#tables.create({
      appName,
      userId,
      sessionId,
      initialState,
      changes: { ...stateChanges(state), session: { removed: [], set: own } },
      events: rows,
      imported,
      lastUpdateTime,
      updateMs: Math.max(adkMs(lastUpdateTime), rows.at(-1)?.ms ?? 0),
    });
    const row = await this.#require({ appName, userId, sessionId });
    return sessionOf(row, events);
  }

  async getSession(key: SessionKey, config?: GetSessionConfig): Promise<Session | undefined> {
    const row = await this.#find(key);
    return row && sessionOf(row, windowOf(await this.#history(row, config?.numRecentEvents), config));
  }

  async readSession(key: SessionKey, config: GetSessionConfig = {}): Promise<SessionReading | undefined> {
    const row = await this.#find(key);
    if (!row) return undefined;
    const { numRecentEvents: recent = 0 } = config;
    const isWhole = recent === 0 || recent >= row.nextSeq - 1;
    const held = this.#cache.find(row);
    if (held?.nextSeq === row.nextSeq) return { ...sessionOf(row, []), events: windowOf(held.events, config) };
    const batches = this.#batches(row, isWhole ? 1 : row.nextSeq - recent);
    const { value: first } = await batches.next();
    const events = first?.events ?? [];
    const read = events.length + (isWhole ? 0 : row.nextSeq - 1 - recent);
    if (read < row.nextSeq - 1) return { ...sessionOf(row, []), events: allOf(events, batches, config) };
    if (isWhole) this.#cache.keep(row, events, first?.size ?? 0);
    return { ...sessionOf(row, []), events: windowOf(events, config) };
  }

  async listSessions(owner: SessionOwner): Promise<Session[]> {
    const rows = await this.#tables.list(owner);
    const sessions: Session[] = [];
    for (const row of rows) {
      if (!isEvaluationSession(row.sessionId)) sessions.push(sessionOf(row, []));
      await yieldWhenDue();
    }
    return sessions;
  }

  async initialState(session: Session): Promise<State> {
    return stateOf(await this.#tables.initialState({ ...keyOf(session), sessionNumber: session[generation] }));
  }

  deleteSession(key: SessionKey, only?: Generation): Promise<void> {
    return this.#tables.delete(key, only);
  }

  async listEvents(key: SessionKey, page: EventPage = {}): Promise<ListEventsResponse> {
    const row = await this.#require(key);
    const total = row.nextSeq - 1;
    const numbers = new Map<string, number | undefined>();
    for (const id of [page.from, page.after, page.before]) {
      if (id !== undefined) numbers.set(id, await this.#tables.seqOf(row, id));
    }
    const position = (id: string): number | undefined => {
      const seq = numbers.get(id);
      return seq === undefined || seq > total ? undefined : seq - 1;
    };
    const range = pageRange(page, total, position);
    const { start, end, isDescending, maxBytes } = range;
    const limit = end - start;
    const rows = await this.#tables.events(row, { from: start + 1, to: end + 1, limit, maxBytes, isDescending });
    return pageAnswer(
      rows.map((stored) => eventOf(stored, row)),
      total,
      range.tokenAfter(rows.length),
    );
  }

  async appendEvent(session: Session, event: Event, fencing?: AppendFencing): Promise<Event> {
    if (event.partial) return event;
    checkDelta(session.state, event.actions.stateDelta);
    const given = storedEvent(event);
    const row = rowOf(given);
    const target = { ...keyOf(session), sessionNumber: fencing?.session ?? session[generation] };
    const appended = await this.#tables.append(target, row, stateChanges(given.actions.stateDelta), fencing);
    const kept = appended.stored === undefined ? given : parseStored(appended.stored);
    this.#cache.add(appended.sessionNumber, appended.seq, kept, row.body.length);

    session.events.push(kept);
    applyDelta(session.state, deepFreeze(event.actions.stateDelta));
    session.lastUpdateTime = appended.lastUpdateTime;
    return kept;
  }

  async closeSession(): Promise<void> {
    // A session holds no resources. Its cached history is evicted when memory is needed.
  }

  async *allSessions(): AsyncGenerator<SessionKey, void, void> {
    for (let after: PlacedKey['place'] | undefined; ;) {
      const keys = await this.#tables.allAfter(after, eventsAtOnce);
      for (const { appName, userId, sessionId } of keys) yield { appName, userId, sessionId };
      const last = keys.at(-1);
      if (!last) return;
      after = last.place;
    }
  }

  outdatedSessions({ sessionTtlMs, maxSessions }: RetentionLimits, limit: number): Promise<SessionKey[]> {
    const beforeMs = sessionTtlMs === undefined ? undefined : Date.now() - sessionTtlMs;
    return this.#tables.outdated({ beforeMs, keep: maxSessions, limit });
  }

  check(): Promise<void> {
    return this.#tables.check();
  }

  close(): Promise<void> {
    return this.#tables.close();
  }

  async #find(key: SessionKey): Promise<SessionRow | undefined> {
    const row = await this.#tables.find(key);
    if (row || !isEvaluationSession(key.sessionId)) return row;
    return this.#tables.findByApp(key.appName, key.sessionId);
  }

  async #require(key: SessionKey): Promise<SessionRow> {
    const row = await this.#find(key);
    if (!row) throw new AppError('session_not_found', `Session not found: ${key.sessionId}`);
    return row;
  }

  /** All events, or at least the last `recent` (0: all). */
  async #history(row: SessionRow, recent = 0): Promise<readonly Event[]> {
    const held = this.#cache.find(row);
    if (held?.nextSeq === row.nextSeq) return held.events;
    if (!held && recent > 0 && recent < row.nextSeq - 1) {
      return (await this.#read(row, row.nextSeq - recent)).events;
    }
    const { events, size } = await this.#read(row, held?.nextSeq ?? 1);
    const whole = held ? held.events.concat(events) : events;
    this.#cache.keep(row, whole, size + (held?.size ?? 0));
    return whole;
  }

  async #read(row: SessionRow, from: number): Promise<{ events: Event[]; size: number }> {
    const events: Event[] = [];
    let size = 0;
    for await (const batch of this.#batches(row, from)) {
      events.push(...batch.events);
      size += batch.size;
    }
    return { events, size };
  }

  /** The events from a number on, in batches. */
  async *#batches(row: SessionRow, from: number): AsyncGenerator<{ events: Event[]; size: number }, void, void> {
    const { nextSeq: to } = row;
    for (let next = from; next < to;) {
      const rows = await this.#tables.events(row, { from: next, to, limit: eventsAtOnce, maxBytes: bytesAtOnce });
      if (rows.length === 0) return; // deleted meanwhile
      yield {
        events: rows.map((stored) => eventOf(stored, row)),
        size: rows.reduce((sum, stored) => sum + sizeOf(stored), 0),
      };
      next = (rows.at(-1)?.seq ?? to) + 1;
      if (next < to) await nextIteration();
    }
  }
}

/** The first events, followed by those of the other batches. */
async function* allOf(
  first: readonly Event[],
  rest: AsyncIterable<{ readonly events: readonly Event[] }>,
  { afterTimestamp }: GetSessionConfig,
): AsyncGenerator<Event, void, void> {
  yield* windowOf(first, { afterTimestamp });
  for await (const { events } of rest) yield* windowOf(events, { afterTimestamp });
}

function rowOf(event: Event): EventRow {
  const { id, invocationId, timestamp } = event;
  return { id, invocationId, timestamp, body: storedEventJson(event), eventData: toEventData(event) };
}

/** Adds ADK's times, by which it orders events: each later than the one before. */
function inTime(events: readonly EventRow[]): TimedEventRow[] {
  let latest = -Infinity;
  return events.map((event) => ({ ...event, ms: (latest = Math.max(adkMs(event.timestamp), latest + 1)) }));
}

function eventOf({ seq, body, eventData }: StoredEventRow, { imported }: Pick<SessionRow, 'imported'>): Event {
  const event = body === null ? storedEvent(fromEventData(eventData ?? 'null')) : parseStored(body);
  if (seq <= imported) markImported([event]);
  return event;
}

/** Parses an event that this server wrote, without validation. */
function parseStored(body: string): Event {
  const event = storedEvent(JSON.parse(body) as Event);
  rememberEventJson(event, body);
  return event;
}

function sessionOf(row: SessionRow, events: readonly Event[]): Session {
  const state = mergeState({ app: stateOf(row.appState), user: stateOf(row.userState), session: stateOf(row.state) });
  return {
    id: row.sessionId,
    appName: row.appName,
    userId: row.userId,
    state,
    events: [...events],
    lastUpdateTime: row.lastUpdateTime,
    [generation]: row.sessionNumber,
  };
}

/** ADK stores `null` for a deleted key; here the key is removed. */
function stateOf(text: string | null): JsonObject {
  const state: JsonObject = {};
  if (text !== null) applyDelta(state, deepFreeze(JSON.parse(text) as JsonObject));
  return state;
}
