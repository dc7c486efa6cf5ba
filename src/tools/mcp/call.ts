import { LinkedAbort } from '../../base/abort.ts';
import { AppError } from '../../base/errors.ts';
import { isJsonObject } from '../../base/json.ts';
import type { ToolContext } from '../../core/runtime.ts';
import { type McpAccess, AwaitingUser } from './access.ts';
import type { McpOptions } from './options.ts';
import type { SessionPool } from './pool.ts';
import { ServerRequests } from './server-requests.ts';
import type { McpSession, RequestLimit } from './session.ts';

/** What calls of one toolset share. */
export interface CallEnvironment {
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
  { options, pool, access }: CallEnvironment,
  ctx: ToolContext,
  work: (session: McpSession, limit: RequestLimit) => Promise<T>,
): Promise<T | AwaitingUser> {
  using abort = new LinkedAbort(ctx.signal);
  const questions = new ServerRequests(options, ctx, () => abort.abort(new Error('The user is being asked')));
  const { signal } = abort;
  const limit = { signal, ms: options.timeouts.callMs };
  try {
    const result = await access.with(ctx, (headers) =>
      pool.use(pool.slot(headers), { signal }, (session) =>
        session.activeCalls.run(questions, signal, () => work(session, limit)),
      ),
    );
    return questions.isWaiting ? waitingForUser() : result;
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (questions.isWaiting || asksUserToVisit(error, questions)) return waitingForUser();
    throw error;
  }
}

const waitingForUser = (): AwaitingUser => new AwaitingUser({ error: 'The call waits for an answer of the user.' });

/** Some servers refuse a call until the user has been to a page. False when they refuse although the user has. */
function asksUserToVisit(error: unknown, questions: ServerRequests): boolean {
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
