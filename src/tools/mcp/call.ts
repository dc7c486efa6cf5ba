import { LinkedAbort } from '../../base/abort.ts';
import { AppError } from '../../base/errors.ts';
import { isJsonObject } from '../../base/json.ts';
import type { ToolContext } from '../../core/runtime.ts';
import { type McpAccess, AwaitingUser } from './access.ts';
import type { McpOptions } from './connection/options.ts';
import type { SessionPool } from './connection/pool.ts';
import type { McpSession, RequestLimit } from './connection/session.ts';
import { ServerRequests } from './server-requests.ts';

/** Shared by the calls of one toolset. */
export interface CallEnvironment {
  readonly options: McpOptions;
  readonly pool: SessionPool;
  readonly access: McpAccess;
}

const urlElicitationRequired = -32_042;

/**
 * Runs `work` in a session, for a tool call. Meanwhile the server may send requests to the user and the model. Stops when
 * the run ends. Throws McpToolsetException and the other MCP errors.
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
      pool.use(pool.sessionFor(headers), { signal }, (session) =>
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

/** Some servers reject a call until the user has visited a page. False if the user has already visited it. */
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
