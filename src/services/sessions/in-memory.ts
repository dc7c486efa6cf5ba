import { AppError } from '../../base/errors.ts';
import { yieldWhenDue } from '../../base/event-loop.ts';
import { deepFreeze, type JsonObject, toJson } from '../../base/json.ts';
import { LinkedList, type ListNode } from '../../base/linked-list.ts';
import { roughSize } from '../../base/rough-size.ts';
import { markImported } from '../../core/events/imported-events.ts';
import type { EventPage, NewSession, SessionService } from '../../core/services.ts';
import type { Event } from '../../schemas/event.ts';
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
import { checkDelta, checkState } from './state-limits.ts';
import { applyDelta, applyScopedDelta, mergeState, type ScopedState, splitState } from './state-scopes.ts';
import { pageOf, storedEvent, windowOf } from './stored-history.ts';

export interface InMemorySessionsOptions {
  /** Number of sessions; above it the least recently used one is evicted. Default: no limit. */
  readonly maxSessions?: number;
  /** Approximate bytes of all sessions; writes beyond it are rejected. Default: no limit. */
  readonly maxBytes?: number | undefined;
  /** Milliseconds after its last use when a session may be evicted. Default: never. */
  readonly idleMs?: number;
  /** Whether a session has a run: then it is not evicted. */
  readonly isInUse?: (key: SessionKey) => boolean;
  /** Called with each evicted session, so that its artifacts and memories can be deleted. */
  readonly onEvicted?: (key: SessionKey) => void;
}

interface UserRecord {
  readonly state: JsonObject;
  readonly sessions: Map<string, StoredSession>;
}

interface AppRecord {
  readonly state: JsonObject;
  readonly users: Map<string, UserRecord>;
}

interface StoredSession extends ListNode<StoredSession> {
  readonly key: SessionKey;
  readonly number: number;
  /** The session's own state at its creation. */
  readonly initial: JsonObject;
  /** The session's own state, and its user's and its app's, which sessions share. */
  readonly state: ScopedState;
  readonly events: Event[];
  /** Event id → position. Built when there are so many events that a scan would take longer. */
  positions: Map<string, number> | undefined;
  lastUpdateTime: number;
  usedAt: number;
  bytes: number;
}

/**
 * Stores sessions until the process ends. Events are frozen when they are stored, and shared with all readers, so neither
 * an append nor a read copies the history. Sessions are evicted only if a limit is set.
 */
export class InMemorySessions implements SessionService {
  readonly #apps = new Map<string, AppRecord>();
  /** All sessions, least recently used first. */
  readonly #recency = new LinkedList<StoredSession>();
  readonly #options: InMemorySessionsOptions;
  #created = 0;
  #bytes = 0;
  /** Whether there is a limit. Without one, the order of use is not tracked, because that writes to other sessions' nodes. */
  readonly #forgets: boolean;

  constructor(options: InMemorySessionsOptions = {}) {
    this.#options = options;
    this.#forgets = options.maxSessions !== undefined || options.idleMs !== undefined;
  }

  async createSession({ appName, userId }: SessionOwner, options: NewSession = {}): Promise<Session> {
    const { events, scopes, bytes } = isBlank(options) ? blank() : await contentOf(options);
    this.#evict();
    const sessionId = options.sessionId?.trim() ? options.sessionId : crypto.randomUUID();
    if (this.#apps.get(appName)?.users.get(userId)?.sessions.has(sessionId)) {
      throw new AppError('session_exists', `Session "${sessionId}" already exists`);
    }
    this.#reserve(bytes);
    const app = entry(this.#apps, appName, (): AppRecord => ({ state: {}, users: new Map() }));
    const user = entry(app.users, userId, (): UserRecord => ({ state: {}, sessions: new Map() }));
    const now = Date.now();
    const stored: StoredSession = {
      key: { appName, userId, sessionId },
      number: (this.#created += 1),
      initial: scopes.initial,
      state: { app: app.state, user: user.state, session: scopes.session },
      events,
      positions: undefined,
      lastUpdateTime: events.reduce(
        (latest, event) => Math.max(latest, event.timestamp),
        options.lastUpdateTime ?? now / 1000,
      ),
      usedAt: now,
      bytes,
      previous: undefined,
      next: undefined,
    };
    if (options.imported) markImported(stored.events, options.imported);
    applyDelta(app.state, scopes.app);
    applyDelta(user.state, scopes.user);
    user.sessions.set(sessionId, stored);
    if (this.#forgets) this.#recency.add(stored);
    this.#evict();
    const beforeCopy = yieldWhenDue();
    if (beforeCopy) await beforeCopy;
    return snapshot(stored, windowOf(stored.events));
  }

  async getSession(key: SessionKey, config?: GetSessionConfig): Promise<Session | undefined> {
    const stored = this.#find(key);
    return stored && snapshot(stored, windowOf(stored.events, config));
  }

  async listSessions({ appName, userId }: SessionOwner): Promise<Session[]> {
    this.#evict();
    const owned = [...(this.#apps.get(appName)?.users.get(userId)?.sessions.values() ?? [])];
    const sessions: Session[] = [];
    for (const stored of owned) {
      if (!isEvaluationSession(stored.key.sessionId)) sessions.push(snapshot(stored, []));
      const due = yieldWhenDue();
      if (due) await due;
    }
    return sessions;
  }

  async initialState(session: Session): Promise<State> {
    return { ...this.#require(keyOf(session), session[generation]).initial };
  }

  async deleteSession(key: SessionKey, only?: Generation): Promise<void> {
    const stored = this.#find(key);
    if (stored && (only === undefined || only === stored.number)) this.#remove(stored);
  }

  async listEvents(key: SessionKey, page: EventPage = {}): Promise<ListEventsResponse> {
    const stored = this.#require(key);
    return pageOf(stored.events, page, (id) => positionOf(stored, id));
  }

  async appendEvent(session: Session, event: Event): Promise<Event> {
    if (event.partial) return event;
    const stored = this.#require(keyOf(session), session[generation]);
    checkDelta(session.state, event.actions.stateDelta);
    if (positionOf(stored, event.id) !== undefined) {
      throw new AppError('invalid_request', `Event "${event.id}" is stored already`);
    }
    const bytes = sizeOf(event);
    this.#reserve(bytes);
    stored.bytes += bytes;
    const kept = storedEvent(event);
    stored.events.push(kept);
    stored.positions?.set(kept.id, stored.events.length - 1);
    applyScopedDelta(stored.state, kept.actions.stateDelta);
    stored.lastUpdateTime = Math.max(stored.lastUpdateTime, kept.timestamp);

    session.events.push(kept);
    applyDelta(session.state, deepFreeze(event.actions.stateDelta));
    session.lastUpdateTime = stored.lastUpdateTime;
    return kept;
  }

  async closeSession(): Promise<void> {
    // A session holds no resources.
  }

  #require(key: SessionKey, only?: Generation): StoredSession {
    const stored = this.#find(key);
    if (!stored || (only !== undefined && only !== stored.number))
      throw new AppError('session_not_found', `Session not found: ${key.sessionId}`);
    return stored;
  }

  /** Counts as a use of the session. */
  #find({ appName, userId, sessionId }: SessionKey): StoredSession | undefined {
    this.#evict();
    const users = this.#apps.get(appName)?.users;
    let stored = users?.get(userId)?.sessions.get(sessionId);
    if (!stored && users && isEvaluationSession(sessionId)) {
      stored = users
        .values()
        .map((user) => user.sessions.get(sessionId))
        .find((found) => found !== undefined);
    }
    if (stored && this.#forgets) this.#use(stored);
    return stored;
  }

  /** Reserves memory. Throws `storage_full` beyond the limit. */
  #reserve(bytes: number): void {
    const { maxBytes = Infinity } = this.#options;
    if (this.#bytes + bytes > maxBytes) {
      throw new AppError(
        'storage_full',
        'There is no room for more sessions in memory: delete some, or keep them in a database',
      );
    }
    this.#bytes += bytes;
  }

  /** Evicts from the least recently used session on, until one may stay. Called on access, so there is no timer. */
  #evict(): void {
    if (!this.#forgets) return;
    const { maxSessions = Infinity, idleMs = Infinity, isInUse, onEvicted } = this.#options;
    const latest = Date.now() - idleMs;
    for (let oldest = this.#recency.first, next = oldest?.next; oldest; oldest = next, next = oldest?.next) {
      const isYoung = oldest.usedAt > latest;
      if (isYoung && (this.#recency.size <= maxSessions || !next)) return;
      if (isInUse?.(oldest.key)) continue;
      this.#remove(oldest);
      onEvicted?.(oldest.key);
    }
  }

  #use(stored: StoredSession): void {
    this.#recency.remove(stored);
    this.#recency.add(stored);
    stored.usedAt = Date.now();
  }

  /** Also removes the records of users and apps without sessions and state. */
  #remove(stored: StoredSession): void {
    const { appName, userId, sessionId } = stored.key;
    this.#bytes -= stored.bytes;
    if (this.#forgets) this.#recency.remove(stored);
    const app = this.#apps.get(appName);
    const user = app?.users.get(userId);
    user?.sessions.delete(sessionId);
    if (user?.sessions.size === 0 && isEmpty(user.state)) app?.users.delete(userId);
    if (app?.users.size === 0 && isEmpty(app.state)) this.#apps.delete(appName);
  }
}

/** Memory of a session and an event, besides their content. */
const sessionBytes = 1024;
const eventBytes = 512;

/** Approximate bytes of an event. Measures only members that may be large, because it runs for each event. */
function sizeOf({ content, actions, output, customMetadata }: Event): number {
  let size = eventBytes;
  for (const part of content?.parts ?? []) size += part.text === undefined ? roughSize(part) : part.text.length;
  for (const _ in actions.stateDelta) {
    size += roughSize(actions.stateDelta);
    break;
  }
  if (output !== undefined) size += roughSize(output);
  if (customMetadata !== undefined) size += roughSize(customMetadata);
  return size;
}

/** Up to this many events, a scan finds a position. Most sessions stay short, and a map would double their memory. */
const maxScannedEvents = 16;

/** The position of an event in the history, if it has it. */
function positionOf(stored: StoredSession, id: string): number | undefined {
  const { events } = stored;
  if (events.length > maxScannedEvents) {
    stored.positions ??= new Map(events.map((event, position) => [event.id, position]));
    return stored.positions.get(id);
  }
  const position = events.findIndex((event) => event.id === id);
  return position < 0 ? undefined : position;
}

function snapshot({ key, number, state, lastUpdateTime }: StoredSession, events: Event[]): Session {
  return {
    id: key.sessionId,
    appName: key.appName,
    userId: key.userId,
    state: mergeState(state),
    events,
    lastUpdateTime,
    [generation]: number,
  };
}

const nothing: JsonObject = {};

/** The initial content of a session. */
interface InitialContent {
  readonly events: Event[];
  readonly scopes: ScopedState & { readonly initial: JsonObject };
  readonly bytes: number;
}

const isBlank = ({ state, events = [] }: NewSession): boolean =>
  events.length === 0 && (state === undefined || isEmpty(state));

const blank = (): InitialContent => ({
  events: [],
  scopes: { app: nothing, user: nothing, session: {}, initial: nothing },
  bytes: sessionBytes,
});

/** Validates and copies the initial content, without blocking the event loop. Throws `invalid_request`, `too_large`. */
async function contentOf(options: NewSession): Promise<InitialContent> {
  const copy = toJson(options.state ?? nothing) as JsonObject;
  await yieldWhenDue();
  const state = deepFreeze(copy);
  await yieldWhenDue();
  const events = (options.events ?? []).filter((event) => !event.partial).map(storedEvent);
  if (new Set(events.map((event) => event.id)).size < events.length)
    throw new AppError('invalid_request', 'Two events have the same id');
  checkState(state);
  await yieldWhenDue();
  const { app, user, session: given } = splitState(state);
  await yieldWhenDue();
  const initial: JsonObject = {};
  applyDelta(initial, given);
  const session = { ...initial };
  let hasDeltas = false;
  for (const event of events) {
    const delta = splitState(event.actions.stateDelta).session;
    hasDeltas ||= Object.keys(delta).length > 0;
    applyDelta(session, delta);
  }
  if (hasDeltas) checkState(session);
  await yieldWhenDue();
  const bytes = events.reduce((sum, event) => sum + sizeOf(event), sessionBytes + roughSize(state));
  return { events, scopes: { app, user, session, initial }, bytes };
}

const isEmpty = (state: JsonObject): boolean => Object.keys(state).length === 0;

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}
