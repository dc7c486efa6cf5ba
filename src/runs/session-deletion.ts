import { AppError } from '../base/errors.ts';
import type { Services } from '../core/services.ts';
import { type RunQueue, sessionNotFound } from '../runner/queue/run-queue.ts';
import { generation, type SessionKey } from '../schemas/session.ts';
import type { BackgroundRuns } from './background-runs.ts';

/** How long the runs of a session that is deleted may take to end. What is left of them then stores nothing any more. */
const graceMs = 5_000;

export interface SessionDeletionOptions {
  readonly queue: RunQueue;
  readonly services: Services;
  /** Forgets the session's background runs. Their readers get an error. */
  readonly background: BackgroundRuns;
}

/** Deletes sessions with all that belongs to them: first their runs are ended, so that nothing is stored after that. */
export class SessionDeletion {
  readonly #options: SessionDeletionOptions;
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(options: SessionDeletionOptions) {
    this.#options = options;
  }

  /** Ends the session's runs and deletes it. Concurrent calls for the same session share one deletion. */
  delete(key: SessionKey): Promise<void> {
    const name = nameOf(key);
    const known = this.#underWay.get(name);
    if (known) return known;
    const deletion = this.#delete(key).finally(() => this.#underWay.delete(name));
    this.#underWay.set(name, deletion);
    return deletion;
  }

  /** Resolves when no deletion of the session is under way in this process, however it went. */
  async finished(key: SessionKey): Promise<void> {
    await this.#underWay.get(nameOf(key))?.catch(() => {}); // the caller of the deletion gets its error
  }

  /** Deletes the session unless it has a run, or was written to since a time in seconds. Resolves with whether it did. */
  async deleteIdle(key: SessionKey, sinceTime: number): Promise<boolean> {
    const { queue, services } = this.#options;
    try {
      const slot = await queue.acquireExclusive({ session: key, onBusy: 'reject' }, new AbortController().signal);
      try {
        const session = await services.sessions.getSession(key, { numRecentEvents: 1 });
        if (!session || session.lastUpdateTime > sinceTime) return false;
        await this.#remove(key);
        return true;
      } finally {
        await slot.release();
      }
    } catch (error) {
      if (isCode(error, 'session_busy') || isCode(error, 'session_not_found')) return false;
      throw error;
    }
  }

  async #delete(key: SessionKey): Promise<void> {
    const { queue, background } = this.#options;
    const slot = await queue.acquireForDeletion(key, graceMs).catch((error: unknown) => {
      if (!isCode(error, 'session_not_found')) throw error;
    });
    try {
      background.forget(key, sessionNotFound(key));
      await this.#remove(key);
    } finally {
      await slot?.release();
    }
  }

  /** The session last: until then its key cannot be reused, and after a failure the next deletion finds it again. */
  async #remove(key: SessionKey): Promise<void> {
    const { sessions, artifacts, memories, usage } = this.#options.services;
    const session = await sessions.getSession(key, { numRecentEvents: 1 });
    await artifacts?.deleteSessionArtifacts(key);
    await memories?.deleteSessionMemory(key);
    await usage?.deleteSessionUsage(key);
    if (session) await sessions.deleteSession(key, session[generation]);
  }
}

const nameOf = ({ appName, userId, sessionId }: SessionKey): string => `${appName}\n${userId}\n${sessionId}`;

const isCode = (error: unknown, code: AppError['code']): boolean => error instanceof AppError && error.code === code;
