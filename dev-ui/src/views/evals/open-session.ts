import type { EvalCaseResult, EvalMetricResultPerInvocation } from '../../../../src/schemas/eval-result.ts';
import { ApiError, messageOf } from '../../api/server.ts';
import { createSession, readSession, type SessionKey } from '../../api/sessions.ts';
import { sessionAddress } from '../../app/names.ts';
import { navigate } from '../../app/place.ts';
import { toast } from '../../parts/toasts.tsx';

/**
 * Opens the session of an evaluated case at the end of a turn. One the server no longer has is made again, under the
 * same id, from what the result keeps of it.
 */
export async function openEvalSession(
  app: string,
  { sessionId, userId = 'user', sessionDetails }: EvalCaseResult,
  { actualInvocation: { invocationId } }: EvalMetricResultPerInvocation,
): Promise<void> {
  const key: SessionKey = { appName: app, userId, sessionId };
  try {
    await readSession(key, { recent: 1 }).catch(async (error: unknown) => {
      if (!(error instanceof ApiError) || error.status !== 404 || !sessionDetails) throw error;
      const { state, events } = sessionDetails;
      return createSession(key, { sessionId, state, events });
    });
    const last = sessionDetails?.events.findLast((event) => event.invocationId === invocationId);
    navigate(sessionAddress(key, last ? { e: last.id } : {}));
  } catch (error) {
    toast(messageOf(error), { tone: 'error' });
  }
}
