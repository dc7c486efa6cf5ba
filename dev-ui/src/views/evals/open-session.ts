import type { EvalCaseResult, EvalMetricResultPerInvocation } from '../../../../src/schemas/eval-result.ts';
import { sessionAddress } from '../../app/names.ts';
import { navigate } from '../../app/place.ts';

/** Opens the session of an evaluated case at the end of a turn. */
export function openEvalSession(
  app: string,
  { sessionId, userId = 'user', sessionDetails }: EvalCaseResult,
  { actualInvocation: { invocationId } }: EvalMetricResultPerInvocation,
): void {
  const last = sessionDetails?.events.findLast((event) => event.invocationId === invocationId);
  navigate(sessionAddress({ appName: app, userId, sessionId }, last ? { e: last.id } : {}));
}
