import { yieldWhenDue } from '../base/event-loop.ts';
import type { Agent, RunContext } from '../core/runtime.ts';
import { type Event, functionCalls, isFinalResponse } from '../schemas/event.ts';
import { codeToRun, isLocal, mayRunCode, runCode } from './code-execution/code-execution.ts';
import { dataFilesIn, exploreFiles } from './code-execution/data-files.ts';
import { lastOwnEvent, newestWithContent } from './continuation.ts';
import { definitionFrom, type LlmDefinition, rememberDefinition } from './definition/llm-definition.ts';
import type { LlmAgentSpec } from './definition/llm-spec.ts';
import { runLive } from './live/live-run.ts';
import { type LlmPlan, modelFor, planFor, toolsOf } from './llm-plan.ts';
import { callModel } from './model-calls/model-call.ts';
import { isTruncated } from './model-calls/response-event.ts';
import { callModelAside } from './model-calls/side-model-call.ts';
import { buildRequest } from './request/build-request.ts';
import { tokenCompaction } from './token-compaction.ts';
import { resumedCalls } from './tool-calls/resumed-calls.ts';
import { runTools } from './tool-calls/tool-phase.ts';
import { runTransfer } from './transfer.ts';

/**
 * An agent led by a model: it calls the model, runs the tools that the response calls, and repeats until the response
 * is final. Throws
 * ConfigurationException when the options make no sense.
 */
export function llmAgent(spec: LlmAgentSpec): Agent {
  const definition = definitionFrom(spec, llmAgent);
  const { name, description, inputSchema, outputSchema } = definition;
  const model = spec.model === undefined || typeof spec.model === 'string' ? spec.model : spec.model.name;
  const agent: Agent = {
    kind: 'llm',
    name,
    description,
    subAgents: spec.subAgents ?? [],
    tools: definition.tools,
    ...(model !== undefined && { model }),
    ...(typeof spec.instruction === 'string' && { instruction: spec.instruction }),
    ...(inputSchema && { inputSchema: inputSchema.json }),
    ...(outputSchema && { outputSchema: outputSchema.json }),
    callbacks: definition.agentCallbacks,
    canTransferToParent: definition.canTransferToParent,
    canTransferToPeers: definition.canTransferToPeers,
    run: (ctx) => runSteps(definition, ctx),
    runLive: (ctx, input) =>
      runLive(definition, { ctx, input, runTurn: (turn, plan) => runSteps(definition, turn, plan) }),
    askModel: (question, ctx, signal) => callModelAside(definition, question, { ...ctx, signal }),
    close: () => closeTools(definition),
  };
  rememberDefinition(agent, definition);
  return agent;
}

/** The loop of an LLM agent: resumed calls first, then steps (model call, tool calls) until a response is final. */
async function* runSteps(
  definition: LlmDefinition,
  runContext: RunContext,
  plan: LlmPlan = planFor(definition, runContext),
): AsyncGenerator<Event, void, void> {
  const model = modelFor(plan, runContext);
  const found = resumedCalls(runContext);
  const resumed = found instanceof Promise ? await found : found;
  if (runContext.continuing && !resumed) {
    yield* resumeTransfer(runContext);
    const newest = newestWithContent(runContext);
    if (newest && endsTurn(newest, runContext)) return;
  }
  const ctx = runContext.continuing ? { ...runContext, continuing: false } : runContext;
  if (resumed) {
    const tools = await toolsOf(plan, ctx);
    const last = yield* runTools({ definition, tools, ...resumed }, ctx);
    if (last && endsTurn(last, ctx)) return;
  }
  for (let step = 0; step < definition.maxSteps; step += 1) {
    if (step > 0) await yieldWhenDue(); // model and tools may answer at once
    ctx.signal.throwIfAborted();
    const executor = isLocal(definition.codeExecutor) ? definition.codeExecutor : undefined;
    const files = executor?.optimizeDataFile ? dataFilesIn(ctx.session.events) : [];
    if (executor) yield* exploreFiles(executor, files, ctx);
    const summary = ctx.app.eventsCompaction && (await tokenCompaction(model, ctx));
    if (summary) yield summary;
    const modelStep = await buildRequest(plan, model.name, ctx);
    if (ctx.control.ended) return;
    let last = yield* callModel(definition, model, modelStep, ctx);
    if (!last) return;
    const calls = functionCalls(last);
    if (calls.length > 0) {
      if (ctx.runConfig.pauseOnToolCalls) return;
      const pauses = last.longRunningToolIds !== undefined && ctx.app.resumability?.isResumable === true;
      const phase = {
        definition,
        tools: modelStep.tools,
        calls,
        ...(isTruncated(last) && { refusal: truncatedRefusal }),
      };
      last = (yield* runTools(phase, ctx)) ?? last;
      if (pauses) return;
    }
    const code = executor && mayRunCode(executor, ctx) && codeToRun(last);
    if (executor && code) yield (last = await runCode(executor, code, files, ctx));
    if (endsTurn(last, ctx)) return;
  }
}

/** Resumes the agent that this one had transferred to when the invocation was interrupted. */
async function* resumeTransfer(ctx: RunContext): AsyncGenerator<Event, void, void> {
  const target = lastOwnEvent(ctx)?.actions.transferToAgent;
  if (target !== undefined) yield* runTransfer(target, ctx);
}

const truncatedRefusal =
  'This call was not run: the answer was cut off at its token limit, so the arguments may be incomplete. Answer in smaller steps.';

/** Whether the agent ends after this event, the last of a step. */
const endsTurn = (last: Event, ctx: RunContext): boolean =>
  isFinalResponse(last) || (last.actions.endOfAgent ?? last.actions.endInvocation) === true || ctx.control.ended;

/** Closes tools, toolsets and the code executor; every one is tried. Throws an AggregateError of what failed. */
async function closeTools({ name, tools, codeExecutor }: LlmDefinition): Promise<void> {
  const results = await Promise.allSettled([...tools, codeExecutor].map(async (item) => item?.close?.()));
  const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
  if (errors.length > 0) throw new AggregateError(errors, `Closing what agent "${name}" holds failed`);
}
