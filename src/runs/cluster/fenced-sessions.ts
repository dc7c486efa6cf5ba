import { AppError } from '../../base/errors.ts';
import type { AppendFencing, EventPage, NewSession, SessionService } from '../../core/services.ts';
import type { Event } from '../../schemas/event.ts';
import type { ListEventsResponse } from '../../schemas/records.ts';
import type { Generation, GetSessionConfig, Session, SessionKey, SessionOwner, State } from '../../schemas/session.ts';

// Decides with which right an event of a run is stored: with the fencing token of its lease, which the database checks.

/** The lease of a run on its session. `nextAppend` fences the next event, and throws once the lease is lost. */
export interface SessionLease {
  readonly key: SessionKey;
  nextAppend(): AppendFencing;
  /** Another replica owns the session, or the database did not say whether it stored the event. */
  relinquish(reason: AppError): void;
}

/**
 * The sessions as a leased run sees them: it appends to its own session only as long as it owns it. Declares every member of
 * the interface, so that it does not compile when there is a new one.
 */
export class FencedSessions implements SessionService, Record<keyof SessionService, unknown> {
  readonly #sessions: SessionService;
  readonly #lease: SessionLease;

  constructor(sessions: SessionService, lease: SessionLease) {
    this.#sessions = sessions;
    this.#lease = lease;
  }

  async appendEvent(session: Session, event: Event, fencing?: AppendFencing): Promise<Event> {
    if (event.partial) return event;
    if (fencing || !isOf(session, this.#lease.key)) return this.#sessions.appendEvent(session, event, fencing);
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

  get readSession(): SessionService['readSession'] {
    return this.#sessions.readSession?.bind(this.#sessions);
  }

  get check(): SessionService['check'] {
    return this.#sessions.check?.bind(this.#sessions);
  }

  get close(): SessionService['close'] {
    return this.#sessions.close?.bind(this.#sessions);
  }
}

/** After these errors the run stores nothing more: without the database, not even its failure. */
const endsLease = new Set(['session_changed', 'session_not_found', 'unavailable']);

const isOf = ({ id, appName, userId }: Session, key: SessionKey): boolean =>
  id === key.sessionId && userId === key.userId && appName === key.appName;
