import { AppError } from '../base/errors.ts';
import { limitOf } from '../base/timers.ts';
import { RunConfig } from '../schemas/run.ts';

/** The limits of a run where nobody set another. Times are in milliseconds. */
export const defaultLimits = {
  maxLlmCalls: 500,
  maxParallelToolCalls: 16,
  timeoutMs: 600_000,
  toolTimeoutMs: 60_000,
} as const;

/** Who says how a run goes, the most powerful first; all may leave out what they do not care for. */
export interface RunConfigSources {
  /** Whoever started the server. */
  readonly operator?: RunConfig | undefined;
  /** The author of the app. */
  readonly app?: RunConfig | undefined;
  /** The client. */
  readonly request?: RunConfig | undefined;
}

/**
 * How a run goes. Of its limits the smallest one holds: an app can tighten what the operator set, and set its own where
 * he set none; a request can only tighten. 0 is no limit to the operator and the app, and says nothing in a request. In
 * the answer, no limit is Infinity. Everything else is the request's to say, then the app's, then the operator's.
 */
export function runConfigFor({ operator = {}, app = {}, request = {} }: RunConfigSources): RunConfig {
  const limit = (name: keyof typeof defaultLimits): number => {
    const own = app[name] ?? operator[name] ?? defaultLimits[name];
    return Math.min(limitOf(operator[name]), limitOf(own), limitOf(request[name]));
  };
  const isSequential = [operator, app, request].some(({ toolExecutionMode }) => toolExecutionMode === 'sequential');
  return {
    ...operator,
    ...app,
    ...request,
    maxLlmCalls: limit('maxLlmCalls'),
    maxParallelToolCalls: limit('maxParallelToolCalls'),
    timeoutMs: limit('timeoutMs'),
    toolTimeoutMs: limit('toolTimeoutMs'),
    ...(isSequential && { toolExecutionMode: 'sequential' }),
  };
}

/** Checks what the author of an app says. Throws ConfigurationException. */
export function checkRunConfig(app: string, runConfig: RunConfig | undefined): void {
  const [issue] = RunConfig.optional().safeParse(runConfig).error?.issues ?? [];
  if (!issue) return;
  throw new AppError('ConfigurationException', `runConfig of ${app}: ${issue.path.join('.')}: ${issue.message}`);
}
