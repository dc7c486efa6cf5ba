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

/** Has the list of sessions read again. */
export const refreshSessions = (owner: SessionOwner): Promise<void> =>
  queries.invalidateQueries({ queryKey: sessionsKey(owner) });
