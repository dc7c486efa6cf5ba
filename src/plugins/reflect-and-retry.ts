import { AppError, errorText } from '../base/errors.ts';
import type { JsonObject } from '../base/json.ts';
import type { Plugin, Tool, ToolContext } from '../core/runtime.ts';

export interface ReflectAndRetryOptions {
  /** How often the model is asked to retry a failing tool, before it is told to stop. Default 3. */
  readonly maxRetries?: number;
  /** Whether failures are counted per run or across all runs of the plugin. Default `invocation`. */
  readonly scope?: 'invocation' | 'global';
  /** True: once the retries are used up, the tool fails with its own error. */
  readonly errorIfRetryExceeded?: boolean;
}

const stateKey = 'reflect_and_retry';

/** Responds to a failed tool call with the error and advice, so that the model corrects its call. */
export function reflectAndRetryPlugin(options: ReflectAndRetryOptions = {}): Plugin {
  const { maxRetries = 3, scope = 'invocation', errorIfRetryExceeded = false } = options;
  const lasting = new Map<string, number>();

  const countsOf = ({ data }: ToolContext): Map<string, number> => {
    if (scope === 'global') return lasting;
    const known = data.get(stateKey) as Map<string, number> | undefined;
    const counts = known ?? new Map<string, number>();
    if (!known) data.set(stateKey, counts);
    return counts;
  };

  return {
    name: 'reflect_retry_tool_plugin',
    afterTool({ tool, context, result }) {
      if (result['error'] === undefined && result['response_type'] !== responseType)
        countsOf(context).delete(tool.name);
    },
    onToolError({ tool, args, context, error }) {
      if (error instanceof AppError && error.code === 'run_cancelled') return undefined;
      const counts = countsOf(context);
      const count = (counts.get(tool.name) ?? 0) + 1;
      counts.set(tool.name, count);
      if (count > maxRetries && errorIfRetryExceeded) return undefined;
      return reflection(tool, args, error, { count, maxRetries });
    },
  };
}

const responseType = 'ERROR_HANDLED_BY_REFLECT_AND_RETRY_PLUGIN';

function reflection(
  tool: Tool,
  args: JsonObject,
  error: unknown,
  { count, maxRetries }: { count: number; maxRetries: number },
): JsonObject {
  const guidance =
    count <= maxRetries
      ? `The call of "${tool.name}" failed. Compare its arguments with the error, correct them or choose another way, then try again (attempt ${count} of ${maxRetries}). Do not repeat the same call unchanged.`
      : `"${tool.name}" has failed ${count} times. Do not call it again in this turn: go on without it, or tell the user what could not be done and why.`;
  return {
    response_type: responseType,
    error_type: error instanceof Error ? error.name : 'Error',
    error_details: errorText(error),
    retry_count: count,
    reflection_guidance: guidance,
    arguments: args,
  };
}
