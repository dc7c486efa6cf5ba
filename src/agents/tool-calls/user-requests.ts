import { define, isJsonObject, type JsonObject } from '../../base/json.ts';
import { newEvent } from '../../core/events/new-event.ts';
import type { RunContext } from '../../core/runtime.ts';
import type { FunctionCall } from '../../schemas/content.ts';
import type { Event, EventActions } from '../../schemas/event.ts';
import { newCallId } from '../call-ids.ts';
import { requestNames } from '../reserved-names.ts';

/** An event with requests to the user: function calls that only the user's message can respond to. */
export function requestEvent(ctx: RunContext, calls: readonly FunctionCall[]): Event {
  return newEvent(ctx, ctx.agent.name, {
    content: { role: 'user', parts: calls.map((functionCall) => ({ functionCall })) },
    longRunningToolIds: calls.flatMap(({ id }) => (id === undefined ? [] : [id])),
  });
}

export function asksUser({ requestedAuthConfigs, requestedToolConfirmations }: EventActions): boolean {
  for (const _ in requestedAuthConfigs) return true;
  for (const _ in requestedToolConfirmations) return true;
  return false;
}

/** Seals the tools' credential requests: only this server can read or forge their secret parts. */
export async function sealRequests(actions: EventActions, ctx: RunContext): Promise<void> {
  const { credentials, session } = ctx;
  if (!credentials) return;
  for (const [functionCallId, authConfig] of Object.entries(actions.requestedAuthConfigs)) {
    if (!isJsonObject(authConfig)) continue;
    const request = { owner: session, functionCallId, authConfig };
    define(actions.requestedAuthConfigs, functionCallId, await credentials.seal(request));
  }
}

/** The events with the tools' requests to the user, in call order: credentials first, then confirmations. */
export async function requestEvents(
  calls: readonly FunctionCall[],
  actions: EventActions,
  ctx: RunContext,
): Promise<Event[]> {
  if (!asksUser(actions)) return [];
  const credentials: FunctionCall[] = [];
  const confirmations: FunctionCall[] = [];
  for (const { id, name, args = {} } of calls) {
    if (id === undefined) continue;
    if (Object.hasOwn(actions.requestedAuthConfigs, id)) {
      const authConfig = actions.requestedAuthConfigs[id] as JsonObject;
      const credentialRequest = { owner: ctx.session, functionCallId: id, authConfig };
      const shown = (await ctx.credentials?.prepare(credentialRequest, ctx.signal)) ?? authConfig;
      const request = { functionCallId: id, authConfig: shown };
      credentials.push({ id: newCallId(), name: requestNames.credential, args: request });
    }
    if (Object.hasOwn(actions.requestedToolConfirmations, id)) {
      const toolConfirmation = actions.requestedToolConfirmations[id];
      const request = { originalFunctionCall: { id, name, args }, toolConfirmation };
      confirmations.push({ id: newCallId(), name: requestNames.confirmation, args: request });
    }
  }
  return [credentials, confirmations].flatMap((requests) => (requests.length > 0 ? [requestEvent(ctx, requests)] : []));
}
