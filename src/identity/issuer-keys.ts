import type { CompactJWSHeaderParameters, createLocalJWKSet, CryptoKey, JSONWebKeySet } from 'jose';
import { abortable } from '../base/abort.ts';
import { AppError } from '../base/errors.ts';
import { isJsonObject } from '../base/json.ts';
import { type OutboundFetch, outboundFetch } from '../base/outbound-fetch.ts';
import type { Log } from '../core/log.ts';

type KeySet = ReturnType<typeof createLocalJWKSet>;

/** Keys are fetched again after this time, while the old ones stay in use. */
const freshMs = 10 * 60_000;
/** After this time without an answer of the issuer its keys count no more: it may have withdrawn them. */
const staleMs = 24 * 60 * 60_000;
/** Between two fetches for a key id that is unknown: clients can make such ids up. */
const cooldownMs = 10_000;
/** The same after a fetch that failed. */
const retryMs = 2_000;
const fetchMs = 5_000;
const maxBytes = 1024 * 1024;

export interface IssuerKeysOptions {
  readonly issuer: string;
  /** Where the keys are. Absent: where the issuer's OpenID configuration says. */
  readonly jwksUri?: string | undefined;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** Aborts when the server closes. */
  readonly closing: AbortSignal;
  /** Milliseconds that only grow. */
  readonly clock?: () => number;
}

/**
 * The public keys of an issuer. They are fetched with the first token, in the background when they are ten minutes old,
 * and for a key id that is unknown. When the issuer cannot be reached, the keys stay in use for a day.
 */
export class IssuerKeys {
  /** Counts the changes of the keys. */
  generation = 0;
  readonly #options: IssuerKeysOptions;
  readonly #clock: () => number;
  readonly #fetch: OutboundFetch;
  #find: KeySet | undefined;
  /** The JSON they came as. */
  #text = '';
  #fetchedAtMs = -Infinity;
  #mayFetchAtMs = -Infinity;
  #fetching: Promise<void> | undefined;
  #isFailing = false;

  constructor(options: IssuerKeysOptions) {
    const { issuer, jwksUri, clock = () => performance.now() } = options;
    this.#options = options;
    this.#clock = clock;
    this.#fetch = outboundFetch({ named: [issuer, jwksUri], maxBytes });
  }

  /**
   * The key for a token. Throws `JWKSNoMatchingKey` of jose if the issuer has no such key, and
   * `identity_provider_unavailable` if its keys are not known or too old.
   */
  async keyFor(header: CompactJWSHeaderParameters, signal: AbortSignal): Promise<CryptoKey> {
    const ageMs = this.#clock() - this.#fetchedAtMs;
    if (ageMs > freshMs) {
      const fetching = this.#refresh();
      if (ageMs > staleMs) await abortable(fetching, signal);
    }
    const { errors } = await import('jose');
    const find = this.#usable();
    try {
      return await find(header);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await abortable(this.#refresh(), signal);
      if (this.#usable() === find) throw error;
      return await this.#usable()(header);
    }
  }

  #usable(): KeySet {
    if (this.#find && this.#clock() - this.#fetchedAtMs <= staleMs) return this.#find;
    throw new AppError('identity_provider_unavailable', 'The identity provider cannot be reached', {
      retryAfter: Math.max(1, Math.ceil((this.#mayFetchAtMs - this.#clock()) / 1_000)),
    });
  }

  /** Fetches the keys, unless that was tried just now. Resolves when it is done, and never rejects. */
  #refresh(): Promise<void> {
    if (this.#fetching) return this.#fetching;
    if (this.#clock() < this.#mayFetchAtMs) return Promise.resolve();
    this.#fetching = this.#load().then(
      () => this.#finish(cooldownMs, undefined),
      (error: unknown) => this.#finish(retryMs, error),
    );
    return this.#fetching;
  }

  #finish(pauseMs: number, error: unknown): void {
    this.#fetching = undefined;
    this.#mayFetchAtMs = this.#clock() + pauseMs;
    const { log, issuer, closing } = this.#options;
    const isFailing = error !== undefined;
    if (isFailing !== this.#isFailing && !closing.aborted) {
      if (isFailing) log.warn({ err: error, issuer }, 'the keys of an issuer cannot be fetched');
      else log.info({ issuer }, 'the keys of an issuer can be fetched again');
    }
    this.#isFailing = isFailing;
  }

  async #load(): Promise<void> {
    const jose = await import('jose');
    const signal = AbortSignal.any([this.#options.closing, AbortSignal.timeout(fetchMs)]);
    const text = await this.#read(this.#options.jwksUri ?? (await this.#discover(signal)), signal);
    if (text !== this.#text) {
      const set: unknown = JSON.parse(text);
      if (!isJsonObject(set) || !Array.isArray(set['keys']) || set['keys'].length === 0) {
        throw new Error('The key set holds no keys');
      }
      this.#find = jose.createLocalJWKSet(set as unknown as JSONWebKeySet); // which checks it
      this.#text = text;
      this.generation += 1;
    }
    this.#fetchedAtMs = this.#clock();
  }

  /** OpenID Connect Discovery 1.0, section 4. */
  async #discover(signal: AbortSignal): Promise<string> {
    const { issuer } = this.#options;
    const place = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const found: unknown = JSON.parse(await this.#read(place, signal));
    if (!isJsonObject(found) || found['issuer'] !== issuer) {
      throw new Error(`${place} is not the configuration of "${issuer}"`);
    }
    const uri = typeof found['jwks_uri'] === 'string' ? URL.parse(found['jwks_uri']) : null;
    if (!uri) throw new Error(`${place} names no jwks_uri`);
    // An attacker on the network could replace the keys. The operator may have configured an http address on purpose.
    if (uri.protocol !== 'https:' && uri.origin !== new URL(issuer).origin) {
      throw new Error(`The jwks_uri of "${issuer}" is not encrypted`);
    }
    return uri.href;
  }

  async #read(url: string, signal: AbortSignal): Promise<string> {
    const response = await this.#fetch(url, { signal, headers: { accept: 'application/json' } });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${url} answered ${response.status}`);
    return text;
  }
}
