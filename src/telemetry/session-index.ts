import type { SessionKey, SessionOwner } from '../schemas/session.ts';
import type { SessionHistory } from './session-history.ts';

/** What is recorded of one session. */
export class SessionTraces<Log> {
  readonly key: SessionKey;
  /** In the order they began. */
  readonly logs = new Set<Log>();
  /** What was said in it; absent while no request showed any of it. */
  history: SessionHistory | undefined = undefined;

  constructor(key: SessionKey) {
    this.key = key;
  }
}

/** Finds what is recorded of sessions, also by their ids alone: users and apps may have sessions of the same id. */
export class SessionIndex<Log> {
  /** Nearly every id belongs to one session, so a map for its owners comes with the second of them. */
  readonly #byId = new Map<string, SessionTraces<Log> | Map<string, SessionTraces<Log>>>();

  find({ appName, userId, sessionId }: SessionKey): SessionTraces<Log> | undefined {
    const found = this.#byId.get(sessionId);
    if (found instanceof Map) return found.get(ownerText({ appName, userId }));
    return found && found.key.userId === userId && found.key.appName === appName ? found : undefined;
  }

  /** The same for a session that may be new here. */
  entry(key: SessionKey): SessionTraces<Log> {
    const known = this.find(key);
    if (known) return known;
    const added = new SessionTraces<Log>(key);
    const others = this.#byId.get(key.sessionId);
    if (others === undefined) this.#byId.set(key.sessionId, added);
    else if (others instanceof Map) others.set(ownerText(key), added);
    else {
      this.#byId.set(
        key.sessionId,
        new Map([
          [ownerText(others.key), others],
          [ownerText(key), added],
        ]),
      );
    }
    return added;
  }

  /** All sessions of an id, or those of an app or user alone. */
  withId(sessionId: string, { appName, userId }: Partial<SessionOwner> = {}): SessionTraces<Log>[] {
    const found = this.#byId.get(sessionId);
    const all = found === undefined ? [] : found instanceof Map ? [...found.values()] : [found];
    return all.filter(
      ({ key }) => (appName === undefined || key.appName === appName) && (userId === undefined || key.userId === userId),
    );
  }

  remove({ key }: SessionTraces<Log>): void {
    const found = this.#byId.get(key.sessionId);
    if (found instanceof Map) {
      found.delete(ownerText(key));
      if (found.size > 0) return;
    }
    this.#byId.delete(key.sessionId);
  }
}

/** Names hold no line breaks. */
const ownerText = ({ appName, userId }: SessionOwner): string => `${appName}\n${userId}`;
