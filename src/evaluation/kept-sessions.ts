import type { RunLog } from '../core/runtime.ts';
import type { Services } from '../core/services.ts';
import { keyOf, type Session, type SessionKey, type State } from '../schemas/session.ts';
import type { CaseRun } from './case-run.ts';

/** Sessions of evaluations that stay among the server's; older ones are in the results only. */
const mostKept = 1_000;

/** Puts the sessions of evaluated cases where any view finds them by their id, and takes the oldest away again. */
export class KeptSessions {
  readonly #services: Services;
  readonly #log: RunLog | undefined;
  readonly #kept: SessionKey[] = [];

  constructor(services: Services, log: RunLog | undefined) {
    this.#services = services;
    this.#log = log;
  }

  /** A session that cannot be kept is told of: what came of the case counts all the same. */
  async keep({ session, artifacts }: CaseRun, title: string): Promise<void> {
    const key = keyOf(session);
    if (!(await this.restore(session, title))) return;
    try {
      for (const name of await artifacts.listArtifactKeys(key)) await this.#copyArtifact(key, name, artifacts);
    } catch (error) {
      this.#log?.warn({ err: error, sessionId: key.sessionId }, 'evaluation artifacts not kept');
    }
  }

  /** Puts a session where it is found by its id, under a title that views show; false when that fails. */
  async restore(session: Session, title: string): Promise<boolean> {
    const key = keyOf(session);
    try {
      const state = { ...stateOfSession(session.state), __session_metadata__: { displayName: title } };
      await this.#services.sessions.createSession(key, { sessionId: key.sessionId, state, events: session.events });
      this.#kept.push(key);
      while (this.#kept.length > mostKept) await this.#drop();
      return true;
    } catch (error) {
      this.#log?.warn({ err: error, sessionId: key.sessionId }, 'evaluation session not kept');
      return false;
    }
  }

  /** The user's own artifacts are not the evaluation's to change. */
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

/** What is the session's alone: an evaluation changes nothing that its app and its users share. */
function stateOfSession(state: State): State {
  return Object.fromEntries(Object.entries(state).filter(([key]) => !/^(?:app|user|temp):/.test(key)));
}
