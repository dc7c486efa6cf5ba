/** What a process holds of its runs' events for those who follow them, roughly in bytes. */
const defaultMaxBytes = 32 * 1024 * 1024;

/** Something that holds events it can do without. */
interface Tenant {
  clear(): void;
}

/** A bound on what all feeds hold together: the one that has held something for longest is cleared first. */
export class FeedRoom {
  readonly #maxBytes: number;
  readonly #tenants = new Set<Tenant>();
  #size = 0;

  constructor(maxBytes = defaultMaxBytes) {
    this.#maxBytes = maxBytes;
  }

  /** `size`: what the feed holds now, after a change of so much. */
  resized(feed: Tenant, size: number, change: number): void {
    this.#size += change;
    if (size > 0) this.#tenants.add(feed);
    else this.#tenants.delete(feed);
    while (this.#size > this.#maxBytes) {
      const [oldest] = this.#tenants;
      if (!oldest) return;
      oldest.clear();
    }
  }
}
