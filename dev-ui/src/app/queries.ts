import { QueryClient } from '@tanstack/react-query';
import type { SessionOwner } from '../../../src/schemas/session.ts';
import { ApiError } from '../api/server.ts';

/** What is known of the server that is no event of a session. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      // What the server refused it refuses again; what did not reach it may.
      retry: (count, error) => error instanceof ApiError && error.status === 0 && count < 2,
    },
  },
});

export const sessionsKey = ({ appName, userId }: SessionOwner): string[] => ['sessions', appName, userId];

export const summariesKey = ({ appName, userId }: SessionOwner): string[] => ['summaries', appName, userId];

/** Has the lists of sessions read again. */
export async function refreshSessions(owner: SessionOwner): Promise<void> {
  await Promise.all(
    [sessionsKey(owner), summariesKey(owner)].map((queryKey) => queries.invalidateQueries({ queryKey })),
  );
}
