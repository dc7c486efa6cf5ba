import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../base/errors.ts';
import type { Principal } from '../../core/principal.ts';
import type { RunTicket } from '../../core/runs.ts';
import type { SessionKey } from '../../schemas/session.ts';
import { addressKey } from './request-rate.ts';

/** Limits of runs. Absent: none. */
export interface RunLimits {
  /** Runs that are active at the same time. */
  readonly concurrentRuns?: number | undefined;
  /** Runs that wait for their session, which has another run. */
  readonly queuedRuns?: number | undefined;
}

/** What one caller may have at the same time, unless its credential says so itself. */
export interface OperatorLimits extends RunLimits {
  /** Event streams and WebSockets. */
  readonly openStreams?: number | undefined;
  /** What all callers of an app may have together. */
  readonly apps?: Readonly<Record<string, RunLimits>> | undefined;
}

export interface CallerLimitsOptions extends OperatorLimits {
  /** The caller; `undefined` on a server that knows no callers: then each address is one. */
  readonly principalOf: (request: FastifyRequest) => Principal | undefined;
  /** Whether credentials may bring limits. Without them, and without limits of the operator, nothing is counted. */
  readonly knowsCallers: boolean;
}

interface Usage {
  active: number;
  waiting: number;
  streams: number;
}

/** Seconds after which a refused client may try again. */
const retryAfterSeconds = 5;

/** `count`: how many there are of what, in the singular. */
function tooMany(code: 'too_many_runs' | 'too_many_streams', who: string, count: string): AppError {
  const message = `${who} ${count}${count.startsWith('1 ') ? '' : 's'}, and may not have more`;
  return new AppError(code, message, { retryAfter: retryAfterSeconds });
}

const uncounted: RunTicket = { begun: () => {}, ended: () => {} };

/** Counts the runs and streams of each caller on this server, and the runs of each app. The only place that does. */
export class CallerLimits {
  readonly #options: CallerLimitsOptions;
  /** Whether anything can be limited. */
  readonly isOn: boolean;
  /** By caller and by app. Only those that have something open are here. */
  readonly #usages = new Map<string, Usage>();
  /** Open runs by session: who comes to a session that has one waits. */
  readonly #sessions = new Map<string, number>();

  constructor(options: CallerLimitsOptions) {
    this.#options = options;
    const { knowsCallers, concurrentRuns, queuedRuns, openStreams, apps = {} } = options;
    const limits = [concurrentRuns, queuedRuns, openStreams];
    this.isOn = knowsCallers || limits.some((limit) => limit !== undefined) || Object.keys(apps).length > 0;
  }

  /** Counts a run until its ticket is returned. Throws `too_many_runs`. */
  admitRun(request: FastifyRequest, session: SessionKey): RunTicket {
    if (!this.isOn) return uncounted;
    const { principalOf, apps = {}, concurrentRuns, queuedRuns } = this.#options;
    const limits = principalOf(request)?.limits;
    const place = `${session.appName}\n${session.userId}\n${session.sessionId}`;
    const open = this.#sessions.get(place) ?? 0;
    const state = open > 0 ? 'waiting' : 'active';
    const ownLimits = {
      concurrentRuns: limits?.concurrentRuns ?? concurrentRuns,
      queuedRuns: limits?.queuedRuns ?? queuedRuns,
    };
    const usages = [
      this.#admitted(this.#callerKey(request), ownLimits, [state, 'You have']),
      this.#admitted(`app:${session.appName}`, apps[session.appName] ?? {}, [state, 'The app has']),
    ];
    this.#sessions.set(place, open + 1);
    for (const [key, usage] of usages) {
      usage[state] += 1;
      this.#usages.set(key, usage);
    }
    let now: 'active' | 'waiting' | 'ended' = state;
    const move = (to: 'active' | 'ended'): void => {
      if (now === 'ended' || now === to) return;
      for (const [key, usage] of usages) {
        usage[now] -= 1;
        if (to === 'active') usage.active += 1;
        this.#forgetEmpty(key, usage);
      }
      now = to;
    };
    return {
      begun: () => move('active'),
      ended: () => {
        if (now === 'ended') return;
        move('ended');
        const left = (this.#sessions.get(place) ?? 1) - 1;
        if (left > 0) this.#sessions.set(place, left);
        else this.#sessions.delete(place);
      },
    };
  }

  /** Counts an open stream until the returned function is called. Throws `too_many_streams`. */
  openStream(request: FastifyRequest): () => void {
    const most = this.#options.principalOf(request)?.limits?.openStreams ?? this.#options.openStreams;
    const key = this.#callerKey(request);
    const usage = this.#usageOf(key);
    if (most !== undefined && usage.streams >= most) {
      throw tooMany('too_many_streams', 'You have', `${usage.streams} open stream`);
    }
    usage.streams += 1;
    this.#usages.set(key, usage);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      usage.streams -= 1;
      this.#forgetEmpty(key, usage);
    };
  }

  /** How many callers and apps have something open. */
  get size(): number {
    return this.#usages.size + this.#sessions.size;
  }

  #admitted(
    key: string,
    { concurrentRuns = Infinity, queuedRuns = Infinity }: RunLimits,
    [state, who]: readonly ['active' | 'waiting', string],
  ): readonly [string, Usage] {
    const usage = this.#usageOf(key);
    const most = state === 'active' ? concurrentRuns : queuedRuns;
    if (usage[state] < most) return [key, usage];
    throw tooMany('too_many_runs', who, `${usage[state]} ${state} run`);
  }

  #usageOf(key: string): Usage {
    return this.#usages.get(key) ?? { active: 0, waiting: 0, streams: 0 };
  }

  #forgetEmpty(key: string, { active, waiting, streams }: Usage): void {
    if (active + waiting + streams === 0) this.#usages.delete(key);
  }

  #callerKey(request: FastifyRequest): string {
    return this.#options.principalOf(request)?.id ?? addressKey(request);
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** See `Operation.opensStream`. */
    readonly opensStream?: boolean;
  }
}

/** A hook that counts a stream from its request until its connection, or its response, is closed. */
export const streamLimitHook =
  (limits: CallerLimits) =>
  (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    if (!request.routeOptions.config.opensStream) {
      done();
      return;
    }
    try {
      const close = limits.openStream(request);
      const response = request.ws ? request.raw.socket : reply.raw;
      response.once('close', close);
      if (response.destroyed) close();
    } catch (error) {
      done(error as Error);
      return;
    }
    done();
  };
