import { AppError, describeError, originFields } from '../base/errors.ts';
import { newEvent } from '../core/events/new-event.ts';
import { BudgetExceeded } from '../core/run-budget.ts';
import type { Agent, RunContext } from '../core/runtime.ts';
import type { Part } from '../schemas/content.ts';
import { type Event, functionCalls, functionResponses } from '../schemas/event.ts';

/** The run, its session, and the active agent. */
interface EndedRun extends Pick<RunContext, 'session' | 'invocationId'> {
  readonly agent: Pick<Agent, 'name'>;
}

/**
 * The event that ends a failed or cancelled run: its error code and message, and a response to each open call, so that the
 * history stays usable. `undefined` when the run's last event already has the error, and when the session was deleted.
 */
export function failureEvent(ctx: EndedRun, last: Event | undefined, failure: unknown): Event | undefined {
  const open = openCalls(ctx);
  if (open.length === 0 && last?.errorCode !== undefined && !last.partial) return undefined;
  const shown = describeError(failure);
  const { code, message } = shown;
  if (code === 'session_not_found') return undefined;
  const author = open[0]?.author ?? (last && last.author !== 'user' ? last.author : ctx.agent.name);
  // Models read these responses, so they do not contain the errors of authors' code.
  const why = (failure instanceof AppError && failure.publicMessage) || message;
  const exceeded = failure instanceof BudgetExceeded ? { budget: failure.exceeded } : undefined;
  const customMetadata = exceeded ?? originFields(shown);
  return newEvent({ invocationId: ctx.invocationId }, author, {
    errorCode: code,
    errorMessage: message,
    ...(customMetadata && { customMetadata }),
    ...(open.length === 0 ? {} : { content: { role: 'user', parts: open.map(({ call }) => unanswered(call, why)) } }),
    ...(open[0]?.branch === undefined ? {} : { branch: open[0].branch }),
  });
}

interface OpenCall {
  readonly author: string;
  readonly branch: string | undefined;
  readonly call: { readonly id?: string | undefined; readonly name: string };
}

/** Calls of this invocation that will get no response. Long-running calls are excluded: they wait for the user. */
function openCalls(ctx: EndedRun): OpenCall[] {
  const answered = new Set<string | undefined>();
  const open: OpenCall[] = [];
  for (let index = ctx.session.events.length - 1; index >= 0; index -= 1) {
    const event = ctx.session.events[index];
    if (event?.invocationId !== ctx.invocationId) break;
    for (const { id } of functionResponses(event)) answered.add(id);
    const waiting = new Set(event.longRunningToolIds);
    for (const call of functionCalls(event)) {
      if (answered.has(call.id) || waiting.has(call.id ?? '')) continue;
      open.unshift({ author: event.author, branch: event.branch, call });
    }
  }
  return open;
}

function unanswered(call: OpenCall['call'], message: string): Part {
  const response = { error: `The run ended before this tool answered: ${message}` };
  return { functionResponse: { ...(call.id === undefined ? {} : { id: call.id }), name: call.name, response } };
}
