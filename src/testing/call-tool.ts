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
  /** What the tool finds in the state. */
  readonly state?: State;
  /** Default: `user`. */
  readonly userId?: string;
  readonly plugins?: readonly Plugin[];
  readonly signal?: AbortSignal;
}

/** What came of a call. */
export interface ToolCallOutcome {
  /**
   * What the model gets: the tool's answer, as `{ result }` when it is no object, or `{ error }`. Absent while the
   * answer is the user's or the application's to give.
   */
  readonly response?: JsonObject;
  /** State changes, saved artifacts, transfer and the like, as the event of the answer carries them. */
  readonly actions?: EventActions;
  /** Everything that happened, such as a question to the user. */
  readonly events: readonly Event[];
}

/**
 * Calls a tool as a model would, checks of the arguments included; the compiler checks them, too, as far as the tool's
 * type says what they are. A failure of the tool is a response with an `error`.
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
