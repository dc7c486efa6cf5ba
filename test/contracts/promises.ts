/** What a session store may leave unpromised, each with the reason, which is printed instead of the test. */
export interface SessionExceptions {
  /** Sessions of different users and apps may have the same id. */
  readonly idsByOwner?: string;
  /** `app:` and `user:` state is shared by the sessions it belongs to. */
  readonly sharedState?: string;
}

/** What the title of a test ends with when its promise is not made. */
export const because = (reason: string | undefined): string =>
  reason === undefined ? '' : ` (not promised: ${reason})`;
