import type { SessionKey } from '../schemas/session.ts';
import type { SessionHistory } from './session-history.ts';
import { isWithin, type TraceScope } from './trace-summary.ts';

/** The traces of one session. */
export class SessionTraces<Trace> implements SessionKey {
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: string;
  /** In the order they began. */
  readonly traces: Trace[];
  /** Absent until a model request of the session is recorded. */
  history: SessionHistory | undefined = undefined;

  constructor(appName: string, userId: string, sessionId: string, trace: Trace) {
    this.appName = appName;
    this.userId = userId;
    this.sessionId = sessionId;
    this.traces = [trace];
  }

  /** Removes a trace, mostly the oldest. */
  remove(trace: Trace): void {
    if (this.traces[0] === trace) this.traces.shift();
    else this.traces.splice(this.traces.indexOf(trace), 1);
  }
}

/** Finds the traces of a session, also by the session id alone: several users and apps may use the same id. */
export class SessionIndex<Trace> {
  /** Nearly every id belongs to one session, so only the second session of an id gets a map by owner. */
  readonly #byId = new Map<string, SessionTraces<Trace> | Map<string, SessionTraces<Trace>>>();

  find({ appName, userId, sessionId }: SessionKey): SessionTraces<Trace> | undefined {
    const found = this.#byId.get(sessionId);
    if (found instanceof Map) return found.get(ownerText(appName, userId));
    return found?.userId === userId && found.appName === appName ? found : undefined;
  }

  /** Adds a trace to a session. Called for every run, so it looks up the session once. */
  add(appName: string, userId: string, sessionId: string, trace: Trace): SessionTraces<Trace> {
    const found = this.#byId.get(sessionId);
    const owner = found instanceof Map ? ownerText(appName, userId) : '';
    const known = found instanceof Map ? found.get(owner) : found;
    if (known?.userId === userId && known.appName === appName) {
      known.traces.push(trace);
      return known;
    }
    const added = new SessionTraces(appName, userId, sessionId, trace);
    if (found === undefined) this.#byId.set(sessionId, added);
    else if (found instanceof Map) found.set(owner, added);
    else {
      const both = [found, added].map((session) => [ownerText(session.appName, session.userId), session] as const);
      this.#byId.set(sessionId, new Map(both));
    }
    return added;
  }

  /** All sessions with this id that are within the scope. */
  withId(sessionId: string, scope: TraceScope = {}): SessionTraces<Trace>[] {
    const found = this.#byId.get(sessionId);
    const all = found === undefined ? [] : found instanceof Map ? [...found.values()] : [found];
    return all.filter((session) => isWithin(session, scope));
  }

  /** Removes a trace from a session. */
  remove(session: SessionTraces<Trace>, trace: Trace): void {
    session.remove(trace);
    if (session.traces.length > 0) return;
    const found = this.#byId.get(session.sessionId);
    if (found instanceof Map) {
      found.delete(ownerText(session.appName, session.userId));
      if (found.size > 0) return;
    }
    this.#byId.delete(session.sessionId);
  }
}

/** Names contain no line breaks. */
const ownerText = (appName: string, userId: string): string => `${appName}\n${userId}`;
