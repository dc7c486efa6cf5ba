import type { JsonObject } from '../../base/json.ts';
import { newUuid } from '../../base/uuid.ts';
import { newEvent } from '../../core/events/new-event.ts';
import { defaultLimits } from '../../core/run-config.ts';
import type { RunContext } from '../../core/runtime.ts';
import type { FunctionCall, Part } from '../../schemas/content.ts';
import type { Event, ToolConfirmation } from '../../schemas/event.ts';
import { noteJson, openSpan } from '../../telemetry/spans.ts';
import { changesAnything } from '../callback-context.ts';
import type { LlmDefinition } from '../definition/llm-definition.ts';
import { finalAnswerEvent } from '../output-schema.ts';
import { runTransfer } from '../transfer.ts';
import { mergeActions } from './merge-actions.ts';
import type { StepTools } from './step-tools.ts';
import { runToolCall, type CallOutcome, type ToolPhaseContext } from './tool-call.ts';
import { asksUser, requestEvents, sealRequests } from './user-requests.ts';

interface ToolPhase {
  readonly definition: LlmDefinition;
  readonly tools: StepTools;
  readonly calls: readonly FunctionCall[];
  readonly confirmations?: ReadonlyMap<string, ToolConfirmation>;
  readonly refusal?: string;
}

/**
 * Runs the calls of one model response in parallel and yields one event with all function responses in call order, then
 * requests to the user, the final answer if a tool delivered it, and the events of the agent that a tool transferred to.
 * Returns the last event. Throws `BudgetExceeded` after the responses if a call had no budget left.
 */
export async function* runTools(phase: ToolPhase, ctx: RunContext): AsyncGenerator<Event, Event | undefined, void> {
  const { response, last } = yield* runCalls(phase, ctx);
  const target = response?.actions.transferToAgent;
  if (target === undefined) return last;
  let newest = last;
  for await (const event of runTransfer(target, ctx)) {
    if (!event.partial) newest = event;
    yield event;
  }
  return newest;
}

/** The same without running the target of a transfer. Returns the event with the responses, too. */
export async function* runCalls(
  phase: ToolPhase,
  ctx: RunContext,
): AsyncGenerator<Event, { response: Event | undefined; last: Event | undefined }, void> {
  const { definition, calls } = phase;
  const eventId = newUuid();
  const setting: ToolPhaseContext = {
    ...phase,
    ctx,
    callbacks: definition.callbacks,
    tools: phase.tools.byName,
    missing: phase.tools.missing,
    eventId,
    running: new Set(),
  };
  const outcomes = await runAllCalls(calls, setting);
  const event = responseEvent(outcomes, eventId, ctx);
  if (!event) return { response: undefined, last: undefined };
  if (asksUser(event.actions)) await sealRequests(event.actions, ctx);
  yield event;
  let last = event;
  const { actions } = event;
  for (const request of await requestEvents(calls, actions, ctx)) yield (last = request);
  if (actions.setModelResponse !== undefined) {
    yield (last = finalAnswerEvent(actions.setModelResponse, definition.outputKey, ctx));
  }
  if (setting.exceeded) throw setting.exceeded;
  return { response: event, last };
}

async function runAllCalls(calls: readonly FunctionCall[], setting: ToolPhaseContext): Promise<CallOutcome[]> {
  const { runConfig } = setting.ctx;
  const limit =
    runConfig.toolExecutionMode === 'sequential'
      ? 1
      : (runConfig.maxParallelToolCalls ?? defaultLimits.maxParallelToolCalls);
  const outcomes: CallOutcome[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < calls.length) {
      const index = next++;
      const call = calls[index];
      if (call) outcomes[index] = await runToolCall(call, setting);
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(limit, calls.length) }, work));
  } catch (error) {
    next = calls.length;
    for (const context of setting.running) context.abandon(error);
    throw error;
  }
  return outcomes;
}

/** One event with all function responses. `undefined` when all calls are long-running and have no actions. */
function responseEvent(outcomes: readonly CallOutcome[], id: string, ctx: RunContext): Event | undefined {
  const actions = mergeActions(outcomes.map((outcome) => outcome.actions));
  const parts = outcomes.flatMap(({ call, response }) =>
    response ? [{ functionResponse: { id: call.id, name: call.name, response } }] : [],
  );
  if (parts.length > 1) noteMerged(parts, id, ctx);
  if (parts.length > 0) {
    const event = newEvent(ctx, ctx.agent.name, { id, content: { role: 'user', parts }, actions });
    const toolErrors = thrownByCall(outcomes);
    if (toolErrors) event.customMetadata = { toolErrors };
    return event;
  }
  return changesAnything(actions) ? newEvent(ctx, ctx.agent.name, { id, actions }) : undefined;
}

/** The errors that tools threw, by call id. Models do not see the metadata of events. */
function thrownByCall(outcomes: readonly CallOutcome[]): JsonObject | undefined {
  const thrown = outcomes.flatMap(({ call, thrown: detail }) =>
    detail ? [[call.id ?? call.name, { ...detail }]] : [],
  );
  return thrown.length > 0 ? (Object.fromEntries(thrown) as JsonObject) : undefined;
}

/** ADK's views show one span for an event with several responses. */
function noteMerged(parts: readonly Part[], eventId: string, ctx: RunContext): void {
  const span = openSpan('merged_tools', 'execute_tool (merged)', ctx.trace, {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': '(merged tools)',
    'gen_ai.tool.description': '(merged tools)',
    'gen_ai.tool.call.id': eventId,
    'gcp.vertex.agent.event_id': eventId,
    'gcp.vertex.agent.tool_call_args': 'N/A',
    'gcp.vertex.agent.llm_request': '{}',
    'gcp.vertex.agent.llm_response': '{}',
  });
  noteJson(span, 'gcp.vertex.agent.tool_response', { role: 'user', parts });
  span.end();
}
