import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { abortable } from '../base/abort.ts';
import type { KeyStore } from '../core/key-store.ts';
import type { Principal } from '../core/principal.ts';
import type { ApiKey } from '../schemas/api-key.ts';
import { type Authenticator, badCredential, bearerToken, type CallerRequest, singleHeader } from './authenticator.ts';

// A key is `ask_<id>_<secret>`: an id of 16 hex digits, and 32 random bytes in base64url. Stores keep its SHA-256.

const prefix = 'ask_';
const shape = /^ask_([0-9a-z]{16})_[\w-]{43,256}$/;

/** How old the list of keys may be: a key that was added or revoked counts on every server after this time. */
const maxAgeMs = 1_000;

/** The fields of a key that its creator decides. */
export type NewApiKey = Omit<ApiKey, 'id' | 'hash' | 'createdAt' | 'revokedAt'>;

/** A new key: `text` is what the caller sends and cannot be read again, `record` is for the store. */
export function newApiKey(fields: NewApiKey): { text: string; record: ApiKey } {
  const id = randomBytes(8).toString('hex');
  const text = `${prefix}${id}_${randomBytes(32).toString('base64url')}`;
  return { text, record: { id, hash: hash('sha256', text), createdAt: new Date().toISOString(), ...fields } };
}

/** A key that is ready to be compared. */
interface KnownKey {
  readonly hash: Buffer;
  readonly principal: Principal;
  readonly isRevoked: boolean;
}

/** Takes the place of a key whose id does not exist, so that the check does the same work. No text is known with this hash. */
const unknownKey: KnownKey = {
  hash: Buffer.alloc(32),
  principal: { id: 'key:', actsForUsers: false, roles: new Set() },
  isRevoked: true,
};

/**
 * Identifies callers by API keys, in `Authorization: Bearer` or `x-api-key`. It holds all keys of the store in memory and
 * reads changes at most once a second, when a request arrives.
 */
export class ApiKeys implements Authenticator {
  readonly #store: KeyStore;
  readonly #clock: () => number;
  #records: readonly ApiKey[] | undefined;
  #known: ReadonlyMap<string, KnownKey> = new Map();
  #readAtMs = -Infinity;
  #reading: Promise<void> | undefined;

  /** `clock`: milliseconds that only grow. */
  constructor(store: KeyStore, clock: () => number = () => performance.now()) {
    this.#store = store;
    this.#clock = clock;
  }

  async authenticate({ headers }: CallerRequest, signal: AbortSignal): Promise<Principal | undefined> {
    const text = apiKeyIn(headers);
    if (text === undefined) return undefined;
    return this.check(text, signal);
  }

  /** The principal of a key. Throws `unauthenticated` for a text that is no valid key, and `unavailable`. */
  async check(text: string, signal: AbortSignal): Promise<Principal> {
    await this.#refresh(signal);
    return this.#check(text);
  }

  /** The principal of the key with this id (`Principal.id`) as it is now; `undefined` if it does not count any more. */
  async find(id: string, signal: AbortSignal): Promise<Principal | undefined> {
    await this.#refresh(signal);
    const key = this.#known.get(id.replace(/^key:/, ''));
    return key && !key.isRevoked && !hasExpired(key.principal) ? key.principal : undefined;
  }

  async #refresh(signal: AbortSignal): Promise<void> {
    if (this.#clock() - this.#readAtMs <= maxAgeMs) return;
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    await abortable(this.#reading, signal);
  }

  #check(text: string): Principal {
    const id = shape.exec(text)?.[1];
    const { hash: expected, principal, isRevoked } = this.#known.get(id ?? '') ?? unknownKey;
    const isSecret = timingSafeEqual(hash('sha256', text, 'buffer'), expected);
    if (!isSecret) throw badCredential('The API key is unknown');
    if (isRevoked) throw badCredential(`The API key of ${principal.id} is revoked`);
    if (hasExpired(principal)) {
      throw badCredential(`The API key of ${principal.id} has expired`);
    }
    return principal;
  }

  async #read(): Promise<void> {
    const askedAtMs = this.#clock();
    const records = await this.#store.list();
    if (records !== this.#records) this.#known = new Map(records.map((record) => [record.id, knownKey(record)]));
    this.#records = records;
    this.#readAtMs = askedAtMs;
  }
}

const hasExpired = ({ expiresAt = Infinity }: Principal): boolean => Date.now() >= expiresAt;

/** The API key of a request. Throws `unauthenticated` for two that differ. */
function apiKeyIn(headers: CallerRequest['headers']): string | undefined {
  const bearer = bearerToken(headers);
  const own = singleHeader(headers, 'x-api-key')?.trim();
  const texts = [bearer, own].filter((text) => text?.startsWith(prefix));
  if (texts.length === 2 && bearer !== own) throw badCredential('The request has two API keys');
  return texts[0];
}

function knownKey({ id, hash: hex, userId, actsForUsers, apps, roles, limits, ...record }: ApiKey): KnownKey {
  const { expiresAt, revokedAt } = record;
  return {
    hash: Buffer.from(hex, 'hex'),
    isRevoked: revokedAt !== undefined,
    principal: {
      id: `key:${id}`,
      ...(userId !== undefined && { userId }),
      actsForUsers,
      roles: new Set(roles),
      ...(apps && { apps: new Set(apps) }),
      ...(limits && { limits }),
      ...(expiresAt !== undefined && { expiresAt: Date.parse(expiresAt) }),
    },
  };
}
