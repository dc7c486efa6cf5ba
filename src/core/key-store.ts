import type { ApiKey } from '../schemas/api-key.ts';

/** Stores API keys. Several servers and commands may share one. Keys are added and revoked, never changed or deleted. */
export interface KeyStore {
  /**
   * All keys, the oldest first, with the revoked and the expired ones. It resolves to the same array as before while
   * nothing has changed, so that a caller can tell. Throws `unavailable`.
   */
  list(): Promise<readonly ApiKey[]>;
  /** Throws `invalid_request` if a key has this id already. */
  add(key: ApiKey): Promise<void>;
  /**
   * Marks a key as revoked at `time` (ISO 8601), and returns it. A key that was revoked before keeps its time.
   * `undefined`: no key has this id.
   */
  revoke(id: string, time: string): Promise<ApiKey | undefined>;
}
