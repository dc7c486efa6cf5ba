/** Counts requests for all servers that share a store. */
export interface RequestCounts {
  /**
   * Counts one more request of a key in its window, which begins with the first request and lasts `windowMs`. Atomic over
   * all servers. Throws `unavailable`.
   */
  count(key: string, windowMs: number): Promise<CountedRequests>;
}

/** A window after a request was counted in it. */
export interface CountedRequests {
  /** With this one. */
  readonly requests: number;
  /** Milliseconds until the window ends. */
  readonly remainingMs: number;
}
