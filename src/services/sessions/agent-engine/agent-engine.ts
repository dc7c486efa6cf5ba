import { randomUUID } from 'node:crypto';
import { AppError } from '../../../base/errors.ts';
import { deepFreeze, type JsonObject, toJson } from '../../../base/json.ts';
import type { EventPage, NewSession, SessionService } from '../../../core/services.ts';
import type { Event } from '../../../schemas/event.ts';
import type { ListEventsResponse } from '../../../schemas/records.ts';
import {
  isEvaluationSession,
  type Generation,
  generation,
  type GetSessionConfig,
  keyOf,
  type Session,
  type SessionKey,
  type SessionOwner,
} from '../../../schemas/session.ts';
import { isUnavailable } from '../../google/google-connection.ts';
import type { Archive, RetentionLimits } from '../../retention.ts';
import type { VertexApi } from '../../vertex/vertex-api.ts';
import { applyDelta, splitState, withoutTemp } from '../state-scopes.ts';
import { pageOf, storedEvent, windowOf } from '../stored-history.ts';
import { outdatedOf, sessionsOf } from './agent-engine-archive.ts';
import { fromSessionEvent, microsOf, orderMicros, ownKey, toSessionEvent } from './agent-engine-events.ts';
import {
  type EngineSession,
  generationOf,
  idOf,
  isSession,
  type OwnRecord,
  readSession,
  resourceId,
} from './agent-engine-records.ts';

/** What an append needs to know of the history. */
interface Known {
  readonly ids: Set<string>;
  lastMicros: number;
  /** Absent in sessions of other servers. */
  own: OwnRecord | undefined;
  readonly generation: Generation;
}

/** Sessions for which this is cached, the most recent ones. */
const maxKnown = 500;
/** Attempts of an append whose responses are lost. */
const maxTries = 4;

/**
 * Sessions of a Vertex AI Agent Engine, which other ADK servers may use, too. The service stores events and applies their
 * state changes; complete events are stored beside its own fields. For its limits see docs/storage.md.
 */
export class AgentEngineSessions implements SessionService, Archive {
  readonly #api: VertexApi;
  readonly #known = new Map<string, Known>();
  /** Serializes the appends of this process, per session. */
  readonly #appends = new Map<string, Promise<unknown>>();

  constructor(api: VertexApi) {
    this.#api = api;
  }

  async createSession({ appName, userId }: SessionOwner, options: NewSession = {}): Promise<Session> {
    const id = options.sessionId?.trim() ? options.sessionId : letterFirst();
    const events = (options.events ?? []).filter((event) => !event.partial).map(storedEvent);
    if (new Set(events.map((event) => event.id)).size < events.length) {
      throw new AppError('invalid_request', 'Two events have the same id');
    }
    const now = Date.now() / 1000;
    const lastUpdateTime = events.reduce((latest, event) => Math.max(latest, event.timestamp), now);
    const own: OwnRecord = { appName, id, made: randomUUID(), lastUpdateTime };
    const state: JsonObject = {};
    applyDelta(state, withoutTemp(deepFreeze(toJson(options.state ?? {})) as JsonObject));
    await this.#create(userId, own, state);
    const key = { appName, userId, sessionId: id };
    const known: Known = { ids: new Set(), lastMicros: 0, own, generation: own.made };
    this.#remember(key, known);
    try {
      // Imported events have changed the shared state when they happened.
      const { imported = 0 } = options;
      for (const [index, event] of events.entries()) {
        await this.#append(key, known, event, splitState(event.actions.stateDelta).session, index < imported);
      }
    } catch (error) {
      await Promise.allSettled([this.deleteSession(key)]);
      throw error;
    }
    return this.#require(key);
  }

  async getSession(key: SessionKey, config: GetSessionConfig = {}): Promise<Session | undefined> {
    const found = await this.#find(key);
    if (!found) return undefined;
    const recent = config.numRecentEvents || undefined;
    const { events, known } = await this.#history(found, recent);
    // A run reads its session first and then appends. During an append, the cached data is newer than this read.
    const isIdle = !this.#known.has(nameOf(key)) && !this.#appends.has(resourceId(key.sessionId));
    if (recent === undefined && isIdle) this.#remember(key, known);
    return sessionOf(found, key.appName, windowOf(events, config));
  }

  async listSessions({ appName, userId }: SessionOwner): Promise<Session[]> {
    const filter = `user_id="${userId.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
    const sessions: Session[] = [];
    for await (const body of this.#api.list('/sessions', 'sessions', { filter })) {
      const found = readSession(body);
      const isOurs = found.userId === userId && (found.own?.appName ?? appName) === appName;
      if (isOurs && !isEvaluationSession(idOf(found))) sessions.push(sessionOf(found, appName, []));
    }
    return sessions;
  }

  async deleteSession(key: SessionKey, only?: Generation): Promise<void> {
    const found = await this.#find(key);
    if (!found || (only !== undefined && only !== generationOf(found))) return;
    const { status, body } = await this.#api.retryWhileUnavailable(() =>
      this.#api.call(found.name, { method: 'DELETE' }),
    );
    if (status === 200 && body['name'] !== undefined) await this.#api.finished(body);
    this.#known.delete(nameOf(key));
  }

  async listEvents(key: SessionKey, page: EventPage = {}): Promise<ListEventsResponse> {
    const { events: all } = await this.#require(key);
    const place = new Map(all.map(({ id }, index) => [id, index]));
    return pageOf(all, page, (id) => place.get(id));
  }

  async appendEvent(session: Session, event: Event): Promise<Event> {
    if (event.partial) return event;
    const key = keyOf(session);
    const id = resourceId(key.sessionId);
    const before = this.#appends.get(id);
    const append = async (): Promise<Event> => {
      const known = await this.#knownOf(key, session[generation]);
      const kept = storedEvent(event);
      await this.#append(key, known, kept, kept.actions.stateDelta);
      session.events.push(kept);
      applyDelta(session.state, deepFreeze(event.actions.stateDelta));
      session.lastUpdateTime = known.own?.lastUpdateTime ?? Math.max(session.lastUpdateTime, kept.timestamp);
      return kept;
    };
    const turn = before ? before.then(append, append) : append();
    this.#appends.set(id, turn);
    try {
      return await turn;
    } finally {
      if (this.#appends.get(id) === turn) this.#appends.delete(id);
    }
  }

  async closeSession(session: Session): Promise<void> {
    this.#known.delete(nameOf(keyOf(session)));
  }

  allSessions(): AsyncGenerator<SessionKey, void, void> {
    return sessionsOf(this.#api);
  }

  outdatedSessions(limits: RetentionLimits, limit: number): Promise<SessionKey[]> {
    return outdatedOf(this.#api, limits, limit);
  }

  async check(): Promise<void> {
    const { status } = await this.#api.call('/sessions', { query: { pageSize: '1' } });
    if (status === 404) throw this.#api.notThere();
  }

  async close(): Promise<void> {
    this.#api.close();
  }

  async #create(userId: string, own: OwnRecord, state: JsonObject): Promise<void> {
    const exists = new AppError('session_exists', `Session "${own.id}" already exists`);
    const id = resourceId(own.id);
    try {
      const { status, body } = await this.#api.retryWhileUnavailable(() =>
        this.#api.call('/sessions', {
          query: { sessionId: id },
          body: { userId, sessionState: { ...state, [ownKey]: own } },
        }),
      );
      if (status === 404) throw this.#api.notThere();
      if (status === 409) throw exists;
      await this.#api.finished(body);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'session_exists') throw error;
      // The response to an earlier attempt may have been lost.
      const there = await this.#read(id);
      if (there?.own?.made !== own.made) throw exists;
    }
  }

  /** What an append needs to know of a session. Throws when the key belongs to another generation by now. */
  async #knownOf(key: SessionKey, only: Generation | undefined): Promise<Known> {
    const known = this.#known.get(nameOf(key));
    if (known && (only === undefined || only === known.generation)) return known;
    const found = await this.#find(key);
    if (!found || (only !== undefined && only !== generationOf(found))) throw notFound(key);
    const history = await this.#history(found);
    this.#remember(key, history.known);
    return history.known;
  }

  // oxlint-disable-next-line max-params
  async #append(key: SessionKey, known: Known, event: Event, delta: JsonObject, imported = false): Promise<void> {
    if (known.ids.has(event.id)) throw new AppError('invalid_request', `Event "${event.id}" is stored already`);
    const lastUpdateTime = Math.max(known.own?.lastUpdateTime ?? 0, event.timestamp);
    const own = known.own && { ...known.own, lastUpdateTime };
    const micros = orderMicros(event, known.lastMicros, Date.now());
    const body = toSessionEvent(
      event,
      own ? { ...delta, [ownKey]: imported ? { ...own, imported } : own } : delta,
      micros,
    );
    const path = `/sessions/${resourceId(key.sessionId)}`;
    for (let attempt = 0; ; attempt += 1) {
      try {
        const { status } = await this.#api.call(`${path}:appendEvent`, { body });
        if (status !== 200) {
          this.#known.delete(nameOf(key));
          throw notFound(key);
        }
        break;
      } catch (error) {
        if (!isUnavailable(error) || attempt === maxTries) throw error;
        await this.#api.pause(100 * 2 ** attempt);
        if (await this.#isStored(path, event.id)) break;
      }
    }
    known.ids.add(event.id);
    known.lastMicros = micros;
    known.own = own;
  }

  /** Whether an append whose response was lost was stored. */
  async #isStored(path: string, eventId: string): Promise<boolean> {
    const query = { orderBy: 'timestamp desc' };
    for await (const stored of this.#api.list(`${path}/events`, 'sessionEvents', query)) {
      if (fromSessionEvent(stored).id === eventId) return true;
    }
    return false;
  }

  async #find(key: SessionKey): Promise<EngineSession | undefined> {
    const found = await this.#read(resourceId(key.sessionId));
    return found && isSession(found, key, isEvaluationSession(key.sessionId)) ? found : undefined;
  }

  async #read(id: string): Promise<EngineSession | undefined> {
    const { status, body } = await this.#api.retryWhileUnavailable(() => this.#api.call(`/sessions/${id}`));
    return status === 200 ? readSession(body) : undefined;
  }

  async #require(key: SessionKey): Promise<Session> {
    const session = await this.getSession(key);
    if (!session) throw notFound(key);
    return session;
  }

  /** All events in order, or the last `recent`; and what an append needs to know of them. */
  async #history(session: EngineSession, recent?: number): Promise<{ events: Event[]; known: Known }> {
    const { name, own } = session;
    const events: Event[] = [];
    const known: Known = { ids: new Set(), lastMicros: 0, own, generation: generationOf(session) };
    const path = `/sessions/${name.split('/').at(-1) ?? ''}/events`;
    const query: Record<string, string> =
      recent === undefined ? {} : { orderBy: 'timestamp desc', pageSize: String(Math.min(100, recent)) };
    for await (const stored of this.#api.list(path, 'sessionEvents', query)) {
      const event = fromSessionEvent(stored);
      events.push(event);
      known.ids.add(event.id);
      known.lastMicros = Math.max(known.lastMicros, microsOf(stored['timestamp']));
      if (events.length === recent) break;
    }
    return { events: recent === undefined ? events : events.toReversed(), known };
  }

  #remember(key: SessionKey, known: Known): void {
    this.#known.delete(nameOf(key));
    this.#known.set(nameOf(key), known);
    if (this.#known.size > maxKnown) this.#known.delete(this.#known.keys().next().value ?? '');
  }
}

const nameOf = ({ appName, userId, sessionId }: SessionKey): string => JSON.stringify([appName, userId, sessionId]);

const notFound = ({ sessionId }: SessionKey): AppError =>
  new AppError('session_not_found', `Session not found: ${sessionId}`);

/** A random id that starts with a letter, as the service requires. */
function letterFirst(): string {
  for (;;) {
    const id = randomUUID();
    if (/^[a-f]/.test(id)) return id;
  }
}

function sessionOf(found: EngineSession, appName: string, events: Event[]): Session {
  const { userId, state, own, updateTime } = found;
  const lastUpdateTime = own?.lastUpdateTime ?? updateTime;
  const id = idOf(found);
  return {
    id,
    appName,
    userId,
    state: deepFreezeValues(state),
    events,
    lastUpdateTime,
    [generation]: generationOf(found),
  };
}

/** Freezes the values of a state, but not the state itself, which belongs to the reader. */
function deepFreezeValues(state: JsonObject): JsonObject {
  for (const key of Object.keys(state)) deepFreeze(state[key]);
  return state;
}
