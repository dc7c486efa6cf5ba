import rateLimit, { type FastifyRateLimitStore, normalizeIP } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../base/errors.ts';
import type { Principal } from '../../core/principal.ts';
import type { RequestCounts } from '../../core/request-counts.ts';

const windowMs = 60_000;
/** Keys whose windows a server holds in memory; those that were quiet for longest are dropped first. */
const maxKeys = 10_000;
/** The name of our only policy, in the fields of draft-ietf-httpapi-ratelimit-headers-10. */
const policy = 'requests';

/** Counts a request in the window of its key. */
export type RateCheck = ReturnType<FastifyInstance['createRateLimit']>;

export interface RateOptions {
  /** Whose window a request counts in. */
  readonly keyOf: (request: FastifyRequest) => string;
  /** Requests of a key in one minute. */
  readonly maxOf: (request: FastifyRequest) => number;
  /** Where servers count together; absent: this server counts its own, in memory. */
  readonly counts?: RequestCounts | undefined;
}

/** A count of requests by key and minute, in a scope of its own: several may exist beside each other. */
export async function rateCheck(app: FastifyInstance, { keyOf, maxOf, counts }: RateOptions): Promise<RateCheck> {
  const { promise, resolve } = Promise.withResolvers<RateCheck>();
  await app.register(async (scope) => {
    await scope.register(rateLimit, {
      global: false,
      timeWindow: windowMs,
      cache: maxKeys,
      keyGenerator: keyOf,
      max: maxOf,
      ...(counts && { store: storeOf(counts) }),
    });
    resolve(scope.createRateLimit());
  });
  return promise;
}

/** The store of the plugin that counts in `counts`. */
const storeOf = (counts: RequestCounts) =>
  class SharedStore implements FastifyRateLimitStore {
    /** Windows that are used up, by key: until they end, the database is not asked. */
    readonly #usedUp = new Map<string, { readonly requests: number; readonly endsAtMs: number }>();

    incr(key: string, callback: Parameters<FastifyRateLimitStore['incr']>[1], timeWindow: number, max: number): void {
      const known = this.#usedUp.get(key);
      const restMs = (known?.endsAtMs ?? 0) - performance.now();
      if (known && known.requests > max && restMs > 0) {
        callback(null, { current: known.requests, ttl: restMs });
        return;
      }
      this.#usedUp.delete(key);
      counts.count(key, timeWindow).then(
        ({ requests, remainingMs }) => {
          if (requests > max) this.#remember(key, requests, remainingMs);
          callback(null, { current: requests, ttl: remainingMs });
        },
        (error: Error) => callback(error),
      );
    }

    child(): FastifyRateLimitStore {
      return this;
    }

    #remember(key: string, requests: number, remainingMs: number): void {
      const [oldest] = this.#usedUp.keys();
      if (this.#usedUp.size >= maxKeys && oldest !== undefined) this.#usedUp.delete(oldest);
      this.#usedUp.set(key, { requests, endsAtMs: performance.now() + remainingMs });
    }
  };

/** The network of a client: its IPv4 address, or the /64 of its IPv6 address, of which one client has all addresses. */
export const addressKey = ({ raw }: FastifyRequest): string => `address:${normalizeIP(raw.socket.remoteAddress ?? '')}`;

export interface RequestRateOptions {
  /** For callers whose credential says nothing else; absent: no limit. */
  readonly requestsPerMinute?: number | undefined;
  readonly counts?: RequestCounts | undefined;
  /** The caller; `undefined` on a server that knows no callers. */
  readonly principalOf: (request: FastifyRequest) => Principal | undefined;
  /** Whether the request counts at all. */
  readonly isCounted: (request: FastifyRequest) => boolean;
}

/**
 * A hook that limits the requests of each caller, or of each address where the server knows no callers. It sets the
 * RateLimit fields of each response, and throws `rate_limited`.
 */
export async function requestRateHook(app: FastifyInstance, options: RequestRateOptions) {
  const { requestsPerMinute = Infinity, counts, principalOf, isCounted } = options;
  const maxOf = (request: FastifyRequest): number =>
    principalOf(request)?.limits?.requestsPerMinute ?? requestsPerMinute;
  const keyOf = (request: FastifyRequest): string => principalOf(request)?.id ?? addressKey(request);
  const check = await rateCheck(app, { keyOf, maxOf, counts });
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (!isCounted(request) || maxOf(request) === Infinity) return;
    const result = await check(request);
    if (result.isAllowed) return;
    const { max, remaining, ttlInSeconds: seconds, isExceeded } = result;
    reply.header('ratelimit-policy', `"${policy}";q=${max};w=${windowMs / 1000}`);
    reply.header('ratelimit', `"${policy}";r=${remaining};t=${seconds}`);
    if (!isExceeded) return;
    throw new AppError('rate_limited', `Only ${max} requests a minute are allowed`, {
      retryAfter: Math.max(1, seconds),
    });
  };
}

/** Does work that authenticates a request, and limits how often it may fail. */
export type LimitFailures = <T>(request: FastifyRequest, authenticate: () => Promise<T>) => Promise<T>;

/**
 * Above this many `unauthenticated` of an address in a minute, the error is `rate_limited` instead. A good credential
 * always counts: callers behind one address must not be able to lock each other out.
 */
export async function failureLimit(app: FastifyInstance, failuresPerMinute: number): Promise<LimitFailures> {
  const check = await rateCheck(app, { keyOf: addressKey, maxOf: () => failuresPerMinute });
  return async (request, authenticate) => {
    try {
      return await authenticate();
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'unauthenticated') throw error;
      const result = await check(request);
      if (result.isAllowed || !result.isExceeded) throw error;
      const retryAfter = Math.max(1, result.ttlInSeconds);
      throw new AppError('rate_limited', 'Too many requests without a valid credential', { retryAfter, cause: error });
    }
  };
}
