import { withTimeout } from '../../base/abort.ts';
import type { ThrownDetail } from '../../base/error-policy.ts';
import { AppError, errorText } from '../../base/errors.ts';
import { cloneJson, isJsonObject, type JsonObject } from '../../base/json.ts';
import { limitOf } from '../../base/timers.ts';
import { callAround, firstResult, hasHook } from '../../core/hooks.ts';
import { BudgetExceeded, type RunBudget } from '../../core/run-budget.ts';
import { defaultLimits } from '../../core/run-config.ts';
import type { MaybePromise, RunContext, Tool } from '../../core/runtime.ts';
import type { FunctionCall } from '../../schemas/content.ts';
import type { EventActions, ToolConfirmation } from '../../schemas/event.ts';
import { noteJson, type OpenSpan, openSpan } from '../../telemetry/spans.ts';
import { ToolCallContext } from '../callback-context.ts';
import type { LlmCallbacks } from '../definition/llm-definition.ts';
import { indexTree } from '../tree.ts';
import type { MissingToolset } from './step-tools.ts';
import { runConfirmed } from './tool-confirmation.ts';
import { asResponse } from './tool-result.ts';

/** The result of one function call. Without a response, the application answers the call later. */
export interface CallOutcome {
  /** The error that the tool threw, if the author may see it: for the event, not for the model. */
  readonly thrown?: ThrownDetail | undefined;
  readonly call: FunctionCall;
  readonly response: JsonObject | undefined;
  readonly actions: EventActions;
}

/** Shared by the calls of one model response. */
export interface ToolPhaseContext {
  readonly ctx: RunContext;
  readonly callbacks: LlmCallbacks;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly missing?: readonly MissingToolset[];
  /** Id of the event the responses go out with. */
  readonly eventId: string;
  readonly running: Set<ToolCallContext>;
  /** Set when a budget was used up: the run ends once all calls have their responses. */
  exceeded?: BudgetExceeded;
  /** The user's confirmations, by call id. */
  readonly confirmations?: ReadonlyMap<string, ToolConfirmation>;
  /** When set, no call runs; this text is the error response of each. */
  readonly refusal?: string;
}

/**
 * Runs one function call: `beforeTool` hooks, the user's confirmation, the tool with its time limit, `afterTool` hooks.
 * A tool that throws or takes too long gives an error response. Throws when the run aborts or a hook throws.
 */
export async function runToolCall(call: FunctionCall, setting: ToolPhaseContext): Promise<CallOutcome> {
  const { ctx, tools, confirmations } = setting;
  const id = call.id ?? '';
  const tool = tools.get(call.name);
  const span = openToolSpan(call, tool, setting);
  const context = new ToolCallContext(ctx, id, confirmations?.get(id));
  const attempt: Attempt = { call, tool, context, span, setting };
  setting.running.add(context);
  try {
    const response = await respond(attempt);
    noteJson(span, 'gcp.vertex.agent.tool_response', response ?? {});
    return { call, response, actions: attempt.context.actions, thrown: attempt.thrown };
  } catch (error) {
    span.fail(error, ctx.errors?.detail(error)?.where);
    throw error;
  } finally {
    releaseContext(attempt);
    span.end();
  }
}

interface Attempt {
  readonly call: FunctionCall;
  readonly tool: Tool | undefined;
  /** Replaced when the tool is abandoned, so that a late tool cannot change the event. */
  context: ToolCallContext;
  readonly span: OpenSpan;
  readonly setting: ToolPhaseContext;
  /** The error that the tool threw. */
  thrown?: ThrownDetail | undefined;
}

function releaseContext({ context, setting }: Attempt): void {
  setting.running.delete(context);
  context.release();
}

/** Gives hooks a new context with the same changes; the abandoned tool keeps the frozen one. */
async function replaceContext(attempt: Attempt): Promise<void> {
  const successor = await attempt.context.successor();
  releaseContext(attempt);
  attempt.context = successor;
  attempt.setting.running.add(successor);
}

async function respond(attempt: Attempt): Promise<JsonObject | undefined> {
  const { call, context, setting, span } = attempt;
  const tool = attempt.tool ?? nameless(call.name);
  if (setting.refusal !== undefined) return { error: setting.refusal };
  const args = cloneJson(call.args ?? {});
  noteJson(span, 'gcp.vertex.agent.tool_call_args', args);
  const early =
    attempt.tool && hasHook(setting.ctx, 'beforeTool', setting.callbacks.beforeTool)
      ? await callBeforeTool(attempt, tool, args)
      : undefined;
  let result = early && asResponse(early);
  let isLater = false;
  if (result === undefined) {
    try {
      const started = runWithTimeout(attempt, args);
      const value = started instanceof Promise ? await started : started;
      checkTransfer(context, setting.ctx);
      isLater = tool.isLongRunning === true && isNothing(value);
      result = isLater ? {} : asResponse(value);
    } catch (error) {
      setting.ctx.signal.throwIfAborted();
      if (error instanceof BudgetExceeded) {
        setting.exceeded ??= error;
        span.fail(error);
        return { error: error.message };
      }
      attempt.thrown = setting.ctx.errors?.detail(error);
      span.fail(error, attempt.thrown?.where);
      if (context.isAbandoned) await replaceContext(attempt);
      const answer = await callOnToolError(attempt, tool, args, error);
      if (answer === undefined) return errorAnswer(error);
      result = asResponse(answer);
    }
  }
  if (hasHook(setting.ctx, 'afterTool', setting.callbacks.afterTool)) {
    const replaced = await callAfterTool(attempt, tool, args, result);
    if (replaced) return asResponse(replaced);
  }
  return isLater ? undefined : result;
}

/** The function response for a failure. Codes that ADK names (with a capital) go to the model, ours do not. */
function errorAnswer(error: unknown): JsonObject {
  const code = error instanceof AppError && /^[A-Z]/.test(error.code) ? error.code : undefined;
  return { error: errorText(error), ...(code !== undefined && { errorCode: code }) };
}

/** Stands in for a tool that does not exist, where hooks expect one. */
const nameless = (name: string): Tool => ({ kind: 'tool', name, description: '' });

const isNothing = (value: unknown): boolean =>
  value === undefined || value === null || (isJsonObject(value) && Object.keys(value).length === 0);

/** Runs the tool within its time limit. Sets a timer only for tools that return a promise. */
function runWithTimeout(attempt: Attempt, args: JsonObject): MaybePromise<unknown> {
  const { call, tool, context, setting } = attempt;
  const { ctx } = setting;
  const result = runInsideHooks(attempt, args);
  if (!isThenable(result)) return result;
  const timeoutMs = limitOf(tool?.timeoutMs ?? ctx.runConfig.toolTimeoutMs ?? defaultLimits.toolTimeoutMs);
  return withTimeout(result, timeoutMs, ctx.signal, () => {
    const late = new AppError('timed_out', `The tool "${call.name}" did not answer within ${timeoutMs / 1000} s`);
    context.abandon(late);
    return late;
  });
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';

/** Runs the tool inside the plugins' `aroundTool` hooks, the first plugin outermost. */
function runInsideHooks({ call, tool, context, setting }: Attempt, args: JsonObject): MaybePromise<unknown> {
  const { budget } = setting.ctx;
  const run = (): MaybePromise<unknown> => {
    if (!tool) throw unknownTool(call.name, setting);
    if (!tool.run) throw new AppError('not_supported', `The tool "${tool.name}" cannot be called`);
    if (!budget && !tool.requireConfirmation) return tool.run(args, context);
    const started = (): MaybePromise<unknown> =>
      budget ? countAndRun(tool, args, { context, budget }) : tool.run?.(args, context);
    return tool.requireConfirmation ? runConfirmed(tool, args, context, started) : started();
  };
  if (!hasHook(setting.ctx, 'aroundTool')) return run();
  const params = { tool: tool ?? nameless(call.name), args, context };
  return callAround(setting.ctx, 'aroundTool', params, async () => run());
}

/** Runs the tool if the run has budget left for a call. Throws `BudgetExceeded`. */
async function countAndRun(
  tool: Tool,
  args: JsonObject,
  { context, budget }: { readonly context: ToolCallContext; readonly budget: RunBudget },
): Promise<unknown> {
  await budget.countToolCall(context.signal);
  return tool.run?.(args, context);
}

/** A tool may transfer to any agent of the tree. Throws agent_not_found for another name. */
function checkTransfer({ actions }: ToolCallContext, ctx: RunContext): void {
  const target = actions.transferToAgent;
  if (target === undefined || indexTree(ctx.app.rootAgent).find(target)) return;
  delete actions.transferToAgent;
  throw new AppError('agent_not_found', `There is no agent "${target}" to hand over to`);
}

function unknownTool(name: string, { tools, missing = [] }: ToolPhaseContext): AppError {
  const known = [...tools.values()].filter(({ declaration }) => declaration).map((tool) => tool.name);
  const hint = known.length > 0 ? `The tools you can call are: ${known.join(', ')}` : 'There are no tools to call';
  const reasons = missing.map((toolset) => ` The tools of "${toolset.name}" are missing: ${toolset.reason}.`).join('');
  return new AppError(missing[0]?.code ?? 'tool_failed', `There is no tool "${name}". ${hint}.${reasons}`);
}

async function callBeforeTool(
  { setting, context }: Attempt,
  tool: Tool,
  args: JsonObject,
): Promise<JsonObject | undefined> {
  const { ctx, callbacks } = setting;
  return firstResult(ctx, 'beforeTool', { tool, args, context }, callbacks.beforeTool);
}

async function callOnToolError(
  { setting, context }: Attempt,
  tool: Tool,
  args: JsonObject,
  error: unknown,
): Promise<JsonObject | undefined> {
  const { ctx, callbacks } = setting;
  if (!hasHook(ctx, 'onToolError', callbacks.onToolError)) return undefined;
  return firstResult(ctx, 'onToolError', { tool, args, context, error }, callbacks.onToolError);
}

async function callAfterTool(
  { setting, context }: Attempt,
  tool: Tool,
  args: JsonObject,
  result: JsonObject,
): Promise<JsonObject | undefined> {
  const { ctx, callbacks } = setting;
  return firstResult(ctx, 'afterTool', { tool, args, context, result }, callbacks.afterTool);
}

function openToolSpan({ id = '', name }: FunctionCall, tool: Tool | undefined, setting: ToolPhaseContext): OpenSpan {
  return openSpan('tool', `execute_tool ${name}`, setting.ctx.trace, {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'gen_ai.tool.description': tool?.description ?? '',
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.call.id': id,
    'gcp.vertex.agent.event_id': setting.eventId,
    'gcp.vertex.agent.invocation_id': setting.ctx.invocationId,
    'gcp.vertex.agent.session_id': setting.ctx.session.id,
    'gcp.vertex.agent.llm_request': '{}',
    'gcp.vertex.agent.llm_response': '{}',
  });
}
