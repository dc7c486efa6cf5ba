// Decides whether a tool that needs the user's confirmation runs. `user-requests.ts` puts the request into an event;
// `resumed-calls.ts` checks the user's response and has the call run again with it.

import type { JsonObject } from '../../base/json.ts';
import type { MaybePromise, Tool } from '../../core/runtime.ts';
import type { ToolCallContext } from '../callback-context.ts';

/** Calls `run` if the user confirmed the call or it needs no confirmation. Else returns an error response. */
export async function runConfirmed(
  tool: Tool,
  args: JsonObject,
  context: ToolCallContext,
  run: () => MaybePromise<unknown>,
): Promise<unknown> {
  const { name, requireConfirmation } = tool;
  const confirmation = context.toolConfirmation;
  if (confirmation?.confirmed === false) {
    return { error: `The user has rejected this call of "${name}". Do not repeat it unless the user asks.` };
  }
  if (requireConfirmation && !confirmation) {
    const isNeeded = requireConfirmation === true || (await requireConfirmation(args, context));
    if (isNeeded) {
      context.requestConfirmation({ hint: `The agent wants to call "${name}". Do you agree?` });
      return { error: `The call of "${name}" waits for the user's confirmation.` };
    }
  }
  return run();
}
