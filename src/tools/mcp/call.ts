import { LinkedAbort } from '../../base/abort.ts';
import { AppError } from '../../base/errors.ts';
import { isJsonObject } from '../../base/json.ts';
import type { ToolContext } from '../../core/runtime.ts';
import { type McpAccess, Waiting } from './access.ts';
import type { McpOptions } from './options.ts';
import type { SessionPool } from './pool.ts';
import { ServerQuestions } from './questions.ts';
import type { McpSession, RequestLimit } from './session.ts';

/** What calls of one toolset share. */
export interface CallSetting {
  readonly options: McpOptions;
  readonly pool: SessionPool;
  readonly access: McpAccess;
}

const urlElicitationRequired = -32_042;

/**
 * Does something at the server on behalf of a tool call. The server may ask the user and the model meanwhile; the run's
 * end ends it. Throws McpToolsetException and its kin.
 */
export async function callServer<T>(
  { options, pool, access }: CallSetting,
  ctx: ToolContext,
  work: (session: McpSession, limit: RequestLimit) => Promise<T>,
): Promise<T | Waiting> {
  using abort = new LinkedAbort(ctx.signal);
  const questions = new ServerQuestions(options, ctx, () => abort.abort(new Error('The user is being asked')));
  const { signal } = abort;
  const limit = { signal, ms: options.timeouts.callMs };
  try {
    const result = await access.with(ctx, (headers) =>
      pool.use(pool.slot(headers), { signal }, (session) =>
        session.callers.run(questions, signal, () => work(session, limit)),
      ),
    );
    return questions.isWaiting ? waitingForUser() : result;
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (questions.isWaiting || asksToVisit(error, questions)) return waitingForUser();
    throw error;
  }
}

const waitingForUser = (): Waiting => new Waiting({ error: 'The call waits for an answer of the user.' });

/** Some servers refuse a call until the user has been to a page. False when they refuse although the user has. */
function asksToVisit(error: unknown, questions: ServerQuestions): boolean {
  const cause = error instanceof AppError ? error.cause : undefined;
  if (!(cause instanceof Error) || !('code' in cause) || cause.code !== urlElicitationRequired) return false;
  const data = 'data' in cause && isJsonObject(cause.data) ? cause.data['elicitations'] : undefined;
  for (const wanted of Array.isArray(data) ? (data as unknown[]) : []) {
    const { message = '', url } = isJsonObject(wanted) ? wanted : {};
    if (typeof url !== 'string' || typeof message !== 'string') continue;
    if (questions.askToVisit(message, url) === undefined) return true;
  }
  return false;
}
