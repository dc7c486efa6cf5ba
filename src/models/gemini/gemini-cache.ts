import type { Caches, GenerateContentParameters, Tool } from '@google/genai';
import { abortable } from '../../base/abort.ts';
import type { JsonObject } from '../../base/json.ts';
import { nodeCrypto } from '../../base/node-crypto.ts';
import { type ContextCacheConfig, ModelError, type ModelResponse } from '../../core/model.ts';

/** Request prefixes that are tracked; each may have one cache at the provider. */
const REMEMBERED = 100;
/** Milliseconds before its expiry in which a cache is not used. */
const MARGIN_MS = 2_000;
const CREATION_TIMEOUT_MS = 20_000;
const CHARACTERS_PER_TOKEN = 4;

interface Cache {
  readonly name: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  uses: number;
  /** Calls that use it now. */
  active: number;
  /** Retired: new calls do not use it. Gone: the provider has deleted it. */
  state: 'used' | 'retired' | 'gone';
}

/** The state of one request prefix: model, instruction and tools. */
interface Prefix {
  readonly fingerprint: string;
  /** Tokens of the last prompt that began with it; undefined before its first answer. */
  tokens: number | undefined;
  cache: Cache | undefined;
  creating: Promise<Cache | undefined> | undefined;
  /** The provider refused to cache it: no retry before this time. */
  refusedUntil: number;
}

/** One call's use of a cache, or of none. Release it after the call. */
export interface CacheLease {
  /** The request to send, without its prefix if that is cached. */
  readonly parameters: GenerateContentParameters;
  /** The complete response with the metadata of the cache it used. */
  withCacheMetadata(response: ModelResponse): ModelResponse;
  /** Whether the call failed because the cache does not exist any more; then the cache is forgotten. */
  isCacheLost(error: unknown): boolean;
  release(): void;
}

export interface CacheCall {
  readonly caches: Caches;
  readonly parameters: GenerateContentParameters;
  readonly config: ContextCacheConfig;
  readonly signal: AbortSignal;
}

/**
 * Caches request prefixes at Google. A prefix is cached when it is sent a second time. All sessions share the cache until
 * it was used `maxInvocations` times or expires; the next use creates a new one.
 */
export class GeminiCaches {
  /** Least recently used first. */
  readonly #prefixes = new Map<string, Prefix>();

  async lease(call: CacheCall): Promise<CacheLease> {
    const prefix = this.#find(fingerprintOf(call.parameters), call.caches);
    const cache = await this.#cacheFor(prefix, call);
    if (cache) {
      cache.uses += 1;
      cache.active += 1;
    }
    return leaseOf(prefix, cache, call);
  }

  #find(fingerprint: string, caches: Caches): Prefix {
    const known = this.#prefixes.get(fingerprint);
    const prefix = known ?? {
      fingerprint,
      tokens: undefined,
      cache: undefined,
      creating: undefined,
      refusedUntil: 0,
    };
    this.#prefixes.delete(fingerprint);
    this.#prefixes.set(fingerprint, prefix);
    const [oldest] = this.#prefixes.values();
    if (oldest && this.#prefixes.size > REMEMBERED) {
      this.#prefixes.delete(oldest.fingerprint);
      if (oldest.cache) retire(oldest.cache, caches);
    }
    return prefix;
  }

  async #cacheFor(prefix: Prefix, call: CacheCall): Promise<Cache | undefined> {
    const { maxInvocations = 10, minTokens = 0 } = call.config;
    if (prefix.tokens === undefined || prefix.tokens < minTokens) return undefined;
    const { cache } = prefix;
    const now = Date.now();
    if (cache && cache.state === 'used' && cache.uses < maxInvocations && now < cache.expiresAt - MARGIN_MS)
      return cache;
    if (cache) retire(cache, call.caches);
    if (now < prefix.refusedUntil) return undefined;
    // One call creates the cache, and the others wait for it; none of them can cancel it.
    prefix.creating ??= createCache(prefix, call).finally(() => {
      prefix.creating = undefined;
    });
    return abortable(prefix.creating, call.signal);
  }
}

/** Identifies the cacheable prefix: model, instruction and tools. */
function fingerprintOf({ model, config = {} }: GenerateContentParameters): string {
  const { systemInstruction, tools, toolConfig } = config;
  return nodeCrypto()
    .createHash('sha256')
    .update(JSON.stringify([model, systemInstruction, tools, toolConfig]))
    .digest('hex');
}

async function createCache(prefix: Prefix, { caches, parameters, config }: CacheCall): Promise<Cache | undefined> {
  const { ttlSeconds = 1_800 } = config;
  const { systemInstruction, tools, toolConfig } = parameters.config ?? {};
  const createdAt = Date.now();
  const expiresAt = createdAt + ttlSeconds * 1_000;
  prefix.cache = undefined;
  try {
    const { name } = await caches.create({
      model: parameters.model,
      config: {
        ttl: `${ttlSeconds}s`,
        displayName: `agent-server ${prefix.fingerprint.slice(0, 12)}`,
        abortSignal: AbortSignal.timeout(CREATION_TIMEOUT_MS),
        ...(systemInstruction ? { systemInstruction } : {}),
        ...(tools ? { tools: tools as Tool[] } : {}),
        ...(toolConfig ? { toolConfig } : {}),
      },
    });
    if (name) prefix.cache = { name, createdAt, expiresAt, uses: 0, active: 0, state: 'used' };
  } catch {
    // The prefix is too short, or the permission is missing: this call and the next ones go without a cache.
    prefix.refusedUntil = expiresAt;
  }
  return prefix.cache;
}

/** Retires a cache, and deletes it after the last call that uses it. */
function retire(cache: Cache, caches: Caches): void {
  if (cache.state === 'gone') return;
  cache.state = 'retired';
  if (cache.active > 0) return;
  cache.state = 'gone';
  // Not awaited: a cache that cannot be deleted expires.
  void caches.delete({ name: cache.name }).catch(() => {});
}

function leaseOf(prefix: Prefix, cache: Cache | undefined, call: CacheCall): CacheLease {
  const { caches, parameters, config } = call;
  const { maxInvocations = 10 } = config;
  return {
    parameters: cache ? withoutPrefix(parameters, cache.name) : parameters,
    withCacheMetadata(response) {
      prefix.tokens = response.usageMetadata?.promptTokenCount ?? prefix.tokens ?? estimate(parameters);
      if (!cache) return response;
      const { name: cacheName, createdAt, expiresAt, uses: invocationsUsed } = cache;
      const { fingerprint } = prefix;
      const times = { createdAt: createdAt / 1_000, expireTime: expiresAt / 1_000 };
      return { ...response, cacheMetadata: { cacheName, fingerprint, invocationsUsed, ...times } };
    },
    isCacheLost(error) {
      if (!cache || !(error instanceof ModelError) || !/cached ?content/i.test(error.message)) return false;
      if (prefix.cache === cache) prefix.cache = undefined;
      cache.state = 'gone';
      return true;
    },
    release() {
      if (!cache) return;
      cache.active -= 1;
      if (cache.uses >= maxInvocations || cache.state === 'retired') retire(cache, caches);
    },
  };
}

/** Requests with a cache must not repeat its content. */
function withoutPrefix(parameters: GenerateContentParameters, cachedContent: string): GenerateContentParameters {
  const { systemInstruction: _system, tools: _tools, toolConfig: _choice, ...config } = parameters.config ?? {};
  return { ...parameters, config: { ...config, cachedContent } };
}

function estimate({ config }: GenerateContentParameters): number {
  const { systemInstruction, tools } = (config ?? {}) as JsonObject;
  return Math.ceil(JSON.stringify([systemInstruction, tools]).length / CHARACTERS_PER_TOKEN);
}
