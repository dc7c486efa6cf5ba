import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { CodeExecutionOutput, CodeExecutor, CodeFile } from '../../core/code-executor.ts';
import { newEvent } from '../../core/events/new-event.ts';
import type { RunContext } from '../../core/runtime.ts';
import type { ExecutableCode, Part } from '../../schemas/content.ts';
import type { Event } from '../../schemas/event.ts';
import { noteJson, openSpan } from '../../telemetry/spans.ts';
import { CallbackContextImpl } from '../callback-context.ts';

/** An executor that runs code on this server, not at the model's provider. */
export type LocalExecutor = CodeExecutor & { execute: NonNullable<CodeExecutor['execute']> };

export const isLocal = (executor: CodeExecutor | undefined): executor is LocalExecutor =>
  executor?.execute !== undefined;

const errorCountsKey = '_code_executor_error_counts';
const resultsKey = '_code_execution_results';
const defaultAttempts = 2;

/** Whether code may still run in this invocation: not after `errorRetryAttempts` failures in a row. */
export const mayRunCode = (executor: CodeExecutor, ctx: RunContext): boolean =>
  failuresIn(ctx) < (executor.errorRetryAttempts ?? defaultAttempts);

const failuresIn = (ctx: RunContext): number => Math.max(0, Number(ofInvocation(ctx, errorCountsKey) ?? 0));

function ofInvocation({ session, invocationId }: RunContext, key: string): unknown {
  const all = session.state[key];
  return isJsonObject(all) && Object.hasOwn(all, invocationId) ? all[invocationId] : undefined;
}

/** The code to run next: the event's last part. */
export const codeToRun = (event: Event): ExecutableCode | undefined => event.content?.parts.at(-1)?.executableCode;

/**
 * Runs code and returns the event with its result: its output, or its error. Files that the code created become
 * artifacts.
 */
export async function runCode(
  executor: LocalExecutor,
  { code, language }: ExecutableCode,
  inputFiles: readonly CodeFile[],
  ctx: RunContext,
): Promise<Event> {
  const span = openSpan('code', 'execute_code', ctx.trace, { 'gen_ai.operation.name': 'execute_code' });
  noteJson(span, 'gcp.vertex.agent.tool_call_args', { code });
  const context = new CallbackContextImpl(ctx);
  try {
    const input = { code, inputFiles, ...(language !== undefined && { language: language.toLowerCase() }) };
    const output = await executor.execute(executor.stateful ? { ...input, executionId: ctx.session.id } : input, ctx);
    const saved = await saveFiles(output.outputFiles, context);
    recordOutcome(code, output, context);
    return newEvent(ctx, ctx.agent.name, {
      content: { role: 'model', parts: [resultPart(output, saved)] },
      actions: context.actions,
    });
  } catch (error) {
    span.fail(error);
    throw error;
  } finally {
    span.end();
  }
}

function resultPart({ stdout, stderr }: CodeExecutionOutput, saved: readonly string[]): Part {
  if (stderr !== '') return { codeExecutionResult: { outcome: 'OUTCOME_FAILED', output: stderr } };
  const files = saved.length > 0 ? `Saved as artifacts: ${saved.map((name) => `\`${name}\``).join(', ')}` : '';
  const output = [stdout, files].filter((text) => text !== '').join('\n\n');
  return { codeExecutionResult: { outcome: 'OUTCOME_OK', output: output || '(The code printed nothing.)' } };
}

async function saveFiles(files: readonly CodeFile[], context: CallbackContextImpl): Promise<string[]> {
  const saved: string[] = [];
  for (const { name, mimeType, data } of files) {
    await context.saveArtifact(name, { inlineData: { mimeType, data } });
    saved.push(name);
  }
  return saved;
}

/** Records results and failures of this invocation in the state, in place of those of earlier ones. */
function recordOutcome(
  code: string,
  { stdout, stderr }: CodeExecutionOutput,
  { run, state }: CallbackContextImpl,
): void {
  const { invocationId } = run;
  const before = ofInvocation(run, resultsKey);
  const result: JsonObject = { code, result_stdout: stdout, result_stderr: stderr, timestamp: Date.now() / 1000 };
  state.set(resultsKey, { [invocationId]: [...(Array.isArray(before) ? (before as unknown[]) : []), result] });
  state.set(errorCountsKey, { [invocationId]: stderr === '' ? 0 : failuresIn(run) + 1 });
}
