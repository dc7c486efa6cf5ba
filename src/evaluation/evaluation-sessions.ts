import type { RunLog } from '../core/runtime.ts';
import type { Services } from '../core/services.ts';
import { keyOf, type Session, type SessionKey, type State } from '../schemas/session.ts';
import type { CaseRun } from './case-run.ts';

/** Evaluation sessions in the session store; older ones are in the results only. */
const maxKept = 1_000;

/** Stores the sessions of evaluated cases in the session store, where every view finds them, and deletes the oldest. */
export class EvaluationSessions {
  readonly #services: Services;
  readonly #log: RunLog | undefined;
  readonly #kept: SessionKey[] = [];

  constructor(services: Services, log: RunLog | undefined) {
    this.#services = services;
    this.#log = log;
  }

  /** Stores a session. Logs a failure: the result of the case stays valid. */
  async keep({ session, artifacts }: CaseRun, title: string): Promise<void> {
    const key = keyOf(session);
    if (!(await this.restore(session, title))) return;
    try {
      for (const name of await artifacts.listArtifactKeys(key)) await this.#copyArtifact(key, name, artifacts);
    } catch (error) {
      this.#log?.warn({ err: error, sessionId: key.sessionId }, 'evaluation artifacts not kept');
    }
  }

  /** Stores a session with a title for views; false when that fails. */
  async restore(session: Session, title: string): Promise<boolean> {
    const key = keyOf(session);
    try {
      const state = { ...stateOfSession(session.state), __session_metadata__: { displayName: title } };
      await this.#services.sessions.createSession(key, { sessionId: key.sessionId, state, events: session.events });
      this.#kept.push(key);
      while (this.#kept.length > maxKept) await this.#drop();
      return true;
    } catch (error) {
      this.#log?.warn({ err: error, sessionId: key.sessionId }, 'evaluation session not kept');
      return false;
    }
  }

  /** Copies an artifact of the session, but none of the user's. */
  async #copyArtifact(key: SessionKey, name: string, from: CaseRun['artifacts']): Promise<void> {
    const { artifacts } = this.#services;
    if (!artifacts || name.startsWith('user:')) return;
    for (const { version, customMetadata } of await from.listVersions(key, name)) {
      const part = await from.loadArtifact(key, name, version);
      if (part) await artifacts.saveArtifact(key, name, part, customMetadata);
    }
  }

  async #drop(): Promise<void> {
    const oldest = this.#kept.shift();
    if (!oldest) return;
    await this.#services.artifacts?.deleteSessionArtifacts(oldest);
    await this.#services.sessions.deleteSession(oldest);
  }
}

/** The session's own keys: an evaluation must not change the state of the app or its users. */
function stateOfSession(state: State): State {
  return Object.fromEntries(Object.entries(state).filter(([key]) => !/^(?:app|user|temp):/.test(key)));
}
