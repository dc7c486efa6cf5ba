import { stopOnAbort } from '../base/abort.ts';
import { AppError, errorText } from '../base/errors.ts';
import { yieldWhenDue } from '../base/event-loop.ts';
import { startTimer } from '../base/timers.ts';
import { callAll } from '../core/hooks.ts';
import type { RunContext } from '../core/runtime.ts';
import { llmSummarizer } from '../models/llm-summarizer.ts';
import type { Event } from '../schemas/event.ts';
import type { OpenSpan } from '../telemetry/spans.ts';
import { runRootAgent, runSelectedAgent } from './agent-to-run.ts';
import { failureEvent } from './failure-event.ts';
import type { LiveSession } from './live/live-session.ts';
import type { RunSlot } from './queue/run-queue.ts';
import { store } from './store-event.ts';
import { compactAfterRun } from './window-compaction.ts';

// Decides how a run goes from its first event to its last: each event is stored before it is yielded, the time limit, how a
// failure is stored, and in which order everything ends.

/** One run, not started yet: iterating it runs the agent, and `break` closes it. Iterate it once. */
export interface Run extends AsyncIterable<Event> {
  readonly invocationId: string;
  /** Aborts when the run has to end. */
  readonly signal: AbortSignal;
}

/** The resources of a run: its span, and those that `close` releases. */
export interface RunScope {
  readonly span: OpenSpan;
  readonly close: () => void;
}

/** The run, not started yet: iterating it runs the agent. */
export function eventsOfRun(ctx: RunContext, slot: RunSlot, scope: RunScope, live?: LiveSession): Run {
  const events = runEvents(ctx, slot, scope, live);
  // A run that is never iterated must not hold its session for ever.
  const abandon = (): void =>
    void events.return(undefined).then(() => {
      scope.close();
      return slot.release(slot.signal.reason);
    });
  slot.signal.addEventListener('abort', abandon, { once: true });
  return {
    invocationId: ctx.invocationId,
    signal: slot.signal,
    [Symbol.asyncIterator]: () => {
      slot.signal.removeEventListener('abort', abandon);
      return events;
    },
  };
}

async function* runEvents(
  ctx: RunContext,
  slot: RunSlot,
  scope: RunScope,
  live: LiveSession | undefined,
): AsyncGenerator<Event, void, void> {
  const { budget } = ctx;
  const limitMs = (!live && ctx.runConfig.timeoutMs) || Infinity;
  let timer: NodeJS.Timeout | undefined;
  let last: Event | undefined;
  let failureStored = false;
  let fragments = 0;
  let failure: unknown = leftEarly;
  let shown: unknown = leftEarly; // the failure for clients
  let failedHooks: readonly AppError[] | undefined; // of `afterRun`
  try {
    timer = startTimer(() => slot.abort(tooLong(limitMs)), limitMs);
    if (budget) {
      const isContinuing = ctx.continuing === true;
      await budget.start({ signal: ctx.signal, abort: (reason) => slot.abort(reason), isContinuing });
    }
    const isPlain = ctx.plugins.length === 0; // then no hook is awaited
    const answers = live?.events() ?? (isPlain ? runSelectedAgent(ctx) : runRootAgent(ctx));
    for await (const event of stopOnAbort(answers, ctx.signal)) {
      const kept = live ? live.store(event) : isPlain && event.partial ? event : store(event, ctx);
      last = kept instanceof Promise ? await kept : kept;
      slot.output.append(last, live ? !Object.isFrozen(last) : last.partial === true);
      yield last;
      if (last.partial && (fragments += 1) % fragmentsAtOnce !== 0) continue;
      const due = yieldWhenDue();
      if (due) await due;
    }
    failure = shown = undefined;
    if (ctx.app.eventsCompaction) await compact(ctx, scope.span);
  } catch (error) {
    failure = error;
    shown = report(ctx, error);
    const closing = await storeFailure(ctx, last, { failure, shown });
    failureStored = true;
    if (closing) {
      slot.output.append(closing);
      yield closing;
    }
    throw shown;
  } finally {
    clearTimeout(timer);
    if (budget) await budget.end();
    if (failure !== undefined && !failureStored) {
      const closing = await storeFailure(ctx, last, { failure, shown });
      if (closing) slot.output.append(closing);
    }
    slot.output.end(shown);
    if (failure !== undefined) scope.span.fail(failure, ctx.errors?.detail(failure)?.where);
    if (ctx.plugins.length > 0) {
      failedHooks = await callAll(ctx, 'afterRun', { context: ctx });
      // The client gets one error: the run's own, else the first of these. The log has the others.
      logPluginFailures(ctx, failure === undefined ? failedHooks.slice(1) : failedHooks);
    }
    scope.close();
    const released = slot.release(shown);
    if (released) await released;
  }
  if (failedHooks?.[0]) throw report(ctx, failedHooks[0]);
}

/** Calls the plugins' `onRunError`, and stores the event that ends the run, if possible. */
async function storeFailure(
  ctx: RunContext,
  last: Event | undefined,
  { failure, shown }: { failure: unknown; shown: unknown },
): Promise<Event | undefined> {
  logPluginFailures(ctx, await callAll(ctx, 'onRunError', { error: failure, context: ctx }));
  const closing = failureEvent(ctx, last, shown);
  if (!closing) return undefined;
  return store(closing, ctx).catch(() => undefined);
}

function logPluginFailures({ log, invocationId }: RunContext, failures: readonly AppError[]): void {
  for (const err of failures) log?.warn({ invocationId, err }, 'a plugin failed');
}

/** Compacts the history after the run. A failed summary is recorded in the trace, and the next run tries again. */
async function compact(ctx: RunContext, span: OpenSpan): Promise<void> {
  const { eventsCompaction, rootAgent } = ctx.app;
  if (!eventsCompaction || (!eventsCompaction.summarizer && rootAgent.model === undefined)) return;
  try {
    await compactAfterRun(ctx, eventsCompaction.summarizer ?? llmSummarizer(ctx.models.resolve(rootAgent.model ?? '')));
  } catch (error) {
    span.set({ 'agent_server.compaction.error': errorText(error) });
  }
}

const report = ({ errors }: RunContext, error: unknown): unknown => errors?.report(error) ?? error;

/** Chunks between two checks of the clock, each of which costs as much as a tenth of a chunk. */
const fragmentsAtOnce = 32;

/** Created once: most runs need none, and its stack trace would cost more than all else at the start of a run. */
const leftEarly = new AppError('run_cancelled', 'The client stopped reading before the run ended');

const tooLong = (ms: number): AppError => new AppError('timed_out', `The run took longer than ${ms} ms`);
