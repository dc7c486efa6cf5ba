import type { MaybePromise } from '../../core/runtime.ts';
import type { SessionOwner } from '../../schemas/session.ts';
import type { AuthCredential } from './auth-config.ts';

/** Stores the credentials that users have granted, so that each is requested once. */
export interface CredentialStore {
  load(owner: SessionOwner, credentialKey: string): MaybePromise<AuthCredential | undefined>;
  save(owner: SessionOwner, credentialKey: string, credential: AuthCredential): MaybePromise<void>;
  delete(owner: SessionOwner, credentialKey: string): MaybePromise<void>;
}

/** Stores credentials until the process ends. Above its limit it drops the least recently used. */
export class InMemoryCredentials implements CredentialStore {
  readonly #credentials = new Map<string, AuthCredential>();
  readonly #limit: number;

  constructor(limit = 10_000) {
    this.#limit = limit;
  }

  load(owner: SessionOwner, credentialKey: string): AuthCredential | undefined {
    const key = keyOf(owner, credentialKey);
    const found = this.#credentials.get(key);
    if (found) {
      this.#credentials.delete(key);
      this.#credentials.set(key, found);
    }
    return found;
  }

  save(owner: SessionOwner, credentialKey: string, credential: AuthCredential): void {
    const key = keyOf(owner, credentialKey);
    this.#credentials.delete(key);
    this.#credentials.set(key, credential);
    const [oldest] = this.#credentials.keys();
    if (this.#credentials.size > this.#limit && oldest !== undefined) this.#credentials.delete(oldest);
  }

  delete(owner: SessionOwner, credentialKey: string): void {
    this.#credentials.delete(keyOf(owner, credentialKey));
  }
}

const keyOf = ({ appName, userId }: SessionOwner, credentialKey: string): string =>
  JSON.stringify([appName, userId, credentialKey]);
