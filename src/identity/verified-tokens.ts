import type { Principal } from '../core/principal.ts';

/** The keys a token was checked with. `generation` changes when they are others, and then the check counts no more. */
export interface KeyGeneration {
  readonly generation: number;
}

interface Verified {
  readonly principal: Principal;
  readonly untilMs: number;
  readonly keys: KeyGeneration;
  readonly generation: number;
  readonly bytes: number;
}

const defaultMaxBytes = 4 * 1024 * 1024;
/** An entry without its texts. */
const entryBytes = 600;

/**
 * Remembers tokens that were found good, by their hash, until they expire or the keys of their issuer change. It takes
 * some bounded number of bytes: the tokens that were not used for the longest time leave first.
 */
export class VerifiedTokens {
  readonly #maxBytes: number;
  /** The one that was used last is the last. */
  readonly #entries = new Map<string, Verified>();
  #bytes = 0;

  constructor(maxBytes: number = defaultMaxBytes) {
    this.#maxBytes = maxBytes;
  }

  find(hash: string, nowMs: number): Principal | undefined {
    const entry = this.#entries.get(hash);
    if (!entry) return undefined;
    this.#entries.delete(hash);
    if (nowMs >= entry.untilMs || entry.generation !== entry.keys.generation) {
      this.#bytes -= entry.bytes;
      return undefined;
    }
    this.#entries.set(hash, entry);
    return entry.principal;
  }

  /** `generation` is that of the keys when the check began. */
  add(hash: string, checked: Omit<Verified, 'bytes'>): void {
    const { id, userId = '', tenant = '', roles } = checked.principal;
    const bytes = entryBytes + 2 * (hash.length + id.length + userId.length + tenant.length) + 64 * roles.size;
    this.#remove(hash);
    this.#entries.set(hash, { ...checked, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#remove(oldest);
    }
  }

  #remove(hash: string): void {
    this.#bytes -= this.#entries.get(hash)?.bytes ?? 0;
    this.#entries.delete(hash);
  }
}
