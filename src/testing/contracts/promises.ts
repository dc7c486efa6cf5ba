/** What a session store may leave unpromised, each with the reason, which is printed instead of the test. */
export interface SessionExceptions {
  /** Sessions of different users and apps may have the same id. */
  readonly idsByOwner?: string;
  /** `app:` and `user:` state is shared by the sessions it belongs to. */
  readonly sharedState?: string;
  /** What was handed out of a session is no way into another one that was created under its key later. */
  readonly generations?: string;
}

/** The same for a memory. */
export interface MemoryExceptions {
  /** A message is found by any of its words, whole, and by nothing else; oldest first. */
  readonly words?: string;
  /** What is found are messages, as they were said, by the session they belong to, and at once. */
  readonly messages?: string;
}

/** What the title of a test ends with when its promise is not made. */
export const because = (reason: string | undefined): string =>
  reason === undefined ? '' : ` (not promised: ${reason})`;
