import { AppError } from '../../base/errors.ts';
import type { AppendGuard, EventPage, NewSession, SessionService } from '../../core/services.ts';
import type { Event } from '../../schemas/event.ts';
import type { ListEventsResponse } from '../../schemas/records.ts';
import type { Generation, GetSessionConfig, Session, SessionKey, SessionOwner, State } from '../../schemas/session.ts';

/** By what right the next event of a run is stored. Throws when there is none any more. */
export interface SessionLease {
  readonly key: SessionKey;
  nextAppend(): AppendGuard;
  /** The session belongs to somebody else, or nobody can say whether the event was stored. */
  relinquish(reason: AppError): void;
}

/** The sessions as a run with a store sees them: it appends to its own only as long as it owns it. */
export class FencedSessions implements SessionService {
  readonly #sessions: SessionService;
  readonly #lease: SessionLease;

  constructor(sessions: SessionService, rights: SessionLease) {
    this.#sessions = sessions;
    this.#lease = rights;
  }

  async appendEvent(session: Session, event: Event, guard?: AppendGuard): Promise<Event> {
    if (event.partial) return event;
    if (guard || !isOf(session, this.#lease.key)) return this.#sessions.appendEvent(session, event, guard);
    try {
      return await this.#sessions.appendEvent(session, event, this.#lease.nextAppend());
    } catch (error) {
      if (error instanceof AppError && endsLease.has(error.code)) this.#lease.relinquish(error);
      throw error;
    }
  }

  createSession(owner: SessionOwner, options?: NewSession): Promise<Session> {
    return this.#sessions.createSession(owner, options);
  }

  getSession(key: SessionKey, config?: GetSessionConfig): Promise<Session | undefined> {
    return this.#sessions.getSession(key, config);
  }

  listSessions(owner: SessionOwner): Promise<Session[]> {
    return this.#sessions.listSessions(owner);
  }

  deleteSession(key: SessionKey, only?: Generation): Promise<void> {
    return this.#sessions.deleteSession(key, only);
  }

  listEvents(key: SessionKey, page?: EventPage): Promise<ListEventsResponse> {
    return this.#sessions.listEvents(key, page);
  }

  initialState(session: Session): Promise<State> {
    return this.#sessions.initialState?.(session) ?? Promise.resolve({});
  }

  closeSession(session: Session): Promise<void> {
    return this.#sessions.closeSession(session);
  }
}

/** After these, nothing more is stored: with the store out of reach, not even what went wrong. */
const endsLease = new Set(['session_changed', 'session_not_found', 'unavailable']);

const isOf = ({ id, appName, userId }: Session, key: SessionKey): boolean =>
  id === key.sessionId && userId === key.userId && appName === key.appName;
