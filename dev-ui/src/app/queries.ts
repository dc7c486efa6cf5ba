import { QueryClient } from '@tanstack/react-query';
import type { SessionOwner } from '../../../src/schemas/session.ts';
import { ApiError } from '../api/server.ts';

/** Server data other than the events of sessions. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      // A request that the server rejected is not repeated; one that did not reach it is.
      retry: (count, error) => error instanceof ApiError && error.status === 0 && count < 2,
    },
  },
});

export const sessionsKey = ({ appName, userId }: SessionOwner): string[] => ['sessions', appName, userId];

export const summariesKey = ({ appName, userId }: SessionOwner): string[] => ['summaries', appName, userId];

/** Reads the lists of sessions again. */
export async function refreshSessions(owner: SessionOwner): Promise<void> {
  await Promise.all(
    [sessionsKey(owner), summariesKey(owner)].map((queryKey) => queries.invalidateQueries({ queryKey })),
  );
}
