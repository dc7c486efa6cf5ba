/** Optional parts of the contract that a session store does not fulfil, each with the reason, which replaces the test. */
export interface SessionExceptions {
  /** Sessions of different users and apps may have the same id. */
  readonly idsByOwner?: string;
  /** `app:` and `user:` state is shared by the sessions it belongs to. */
  readonly sharedState?: string;
  /** A handle of a deleted session gives no access to a later session with the same key. */
  readonly generations?: string;
}

/** The same for a memory. */
export interface MemoryExceptions {
  /** A message is found by any of its whole words and by nothing else, oldest first. */
  readonly words?: string;
  /** A search finds the original messages, with their session, immediately after they were added. */
  readonly messages?: string;
}

/** The end of the title of a test that does not apply. */
export const because = (reason: string | undefined): string =>
  reason === undefined ? '' : ` (not promised: ${reason})`;
