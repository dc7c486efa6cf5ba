import { llmAgent } from '../agents/llm-agent.ts';
import type { JsonObject } from '../base/json.ts';
import type { Plugin, Tool } from '../core/runtime.ts';
import { staticLoader } from '../loaders/static.ts';
import { createModelRegistry } from '../models/registry.ts';
import { toolTrier } from '../runner/try-tool.ts';
import type { Event, EventActions } from '../schemas/event.ts';
import type { State } from '../schemas/session.ts';
import { inMemoryServices } from './services.ts';

export interface CallToolOptions {
  /** The state for the tool. */
  readonly state?: State;
  /** Default: `user`. */
  readonly userId?: string;
  readonly plugins?: readonly Plugin[];
  readonly signal?: AbortSignal;
}

/** The outcome of a call. */
export interface ToolCallOutcome {
  /**
   * The response for the model: the tool's result, as `{ result }` if it is not an object, or `{ error }`. Absent while the
   * user or the application has to give the response.
   */
  readonly response?: JsonObject;
  /** State changes, saved artifacts, a transfer and so on, as in the event of the response. */
  readonly actions?: EventActions;
  /** All events, including requests to the user. */
  readonly events: readonly Event[];
}

/**
 * Calls a tool as a model would, including the check of its arguments. The compiler checks them, too, if the tool's type
 * contains them. A failure of the tool becomes a response with an `error`.
 */
export async function callTool<Args extends object>(
  tool: Tool<Args>,
  args: NoInfer<Args>,
  options: CallToolOptions = {},
): Promise<ToolCallOutcome> {
  const { state, userId = 'user', plugins = [], signal = new AbortController().signal } = options;
  const call = toolTrier({
    loader: staticLoader([{ name: 'tests', rootAgent: llmAgent({ name: 'caller', tools: [tool] }) }]),
    services: inMemoryServices(),
    models: createModelRegistry({ env: {} }),
    plugins,
  });
  // The compiler does not see that an object has text keys.
  const given = args as JsonObject;
  const trial = { appName: 'tests', userId, agent: 'caller', name: tool.name, args: given, state };
  const { response, actions, events } = await call(trial, signal);
  return { ...(response && { response: response.response }), ...(actions && { actions }), events };
}
