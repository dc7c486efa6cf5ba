import type { PeerResponse } from '../../a2a/run-turn.ts';
import type { A2aMessage, A2aPart, A2aTask, A2aUpdate } from '../../a2a/wire.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { newEvent } from '../../core/events/new-event.ts';
import type { RunContext } from '../../core/runtime.ts';
import type { Part } from '../../schemas/content.ts';
import { UsageMetadata } from '../../schemas/event-schema.ts';
import { type Event, newActions } from '../../schemas/event.ts';
import { requestNames } from '../reserved-names.ts';
import { remoteKeys } from './remote-message.ts';

/** A response of a remote agent as its event. Of the actions on its server only `escalate` takes effect here. */
export function remoteEvent(response: PeerResponse, request: A2aMessage, ctx: RunContext): Event {
  const { metadata, failure } = response;
  const { parts, longRunningIds } = withQuestion(response);
  const actions = newActions();
  if (metadata['adk_escalate'] === true) actions.escalate = true;
  const usage = UsageMetadata.safeParse(metadata['adk_usage_metadata']);
  const { adk_grounding_metadata: groundingMetadata, adk_citation_metadata: citationMetadata } = metadata;
  return newEvent(ctx, ctx.agent.name, {
    ...(parts.length > 0 && { content: { role: 'model', parts: [...parts] } }),
    ...(response.partial && { partial: true }),
    ...(longRunningIds.length > 0 && { longRunningToolIds: [...longRunningIds] }),
    ...(failure && { errorCode: failure.code, errorMessage: failure.message, turnComplete: true }),
    ...(usage.success && { usageMetadata: usage.data }),
    ...(isJsonObject(groundingMetadata) && { groundingMetadata }),
    ...(isJsonObject(citationMetadata) && { citationMetadata }),
    actions,
    customMetadata: metadataOf(response, request),
  });
}

/** A question as text becomes an input request, so that the run waits and the answer goes back to the remote agent. */
function withQuestion({ parts, question, longRunningIds = [] }: PeerResponse): {
  parts: readonly Part[];
  longRunningIds: readonly string[];
} {
  if (question === undefined) return { parts, longRunningIds };
  const id = `adk-${crypto.randomUUID()}`;
  const functionCall = { id, name: requestNames.input, args: { interruptId: id, message: question } };
  return { parts: [...parts, { functionCall }], longRunningIds: [id] };
}

function metadataOf(
  { metadata, taskId, contextId, aggregated, partial, update }: PeerResponse,
  request: A2aMessage,
): JsonObject {
  const own = metadata['adk_custom_metadata'];
  return {
    ...(isJsonObject(own) && own),
    ...(taskId !== undefined && { [remoteKeys.taskId]: taskId }),
    ...(contextId !== undefined && { [remoteKeys.contextId]: contextId }),
    ...(aggregated && { [remoteKeys.aggregated]: true }),
    ...(!partial && { [remoteKeys.request]: withoutFiles(request), [remoteKeys.response]: updateOutline(update) }),
  };
}

/** The message without the bytes of its files, which other events of the session hold. */
const withoutFiles = (message: A2aMessage): A2aMessage => ({
  ...message,
  parts: (message.parts ?? []).map(withoutBytes),
});

const withoutBytes = (part: A2aPart): A2aPart => (part.raw === undefined ? part : { ...part, raw: '' });

function updateOutline(update: A2aUpdate): unknown {
  const { message, artifactUpdate, statusUpdate, task } = update;
  if (message) return { message: withoutFiles(message) };
  if (task) return { task: taskOutline(task) };
  if (artifactUpdate?.artifact) {
    const { artifact } = artifactUpdate;
    return {
      artifactUpdate: { ...artifactUpdate, artifact: { ...artifact, parts: (artifact.parts ?? []).map(withoutBytes) } },
    };
  }
  return statusUpdate ? { statusUpdate } : {};
}

/** A task repeats the whole conversation: its id, its state and the ids of its artifacts are enough. */
function taskOutline({ id, contextId, status, artifacts = [] }: A2aTask): unknown {
  const ids = artifacts.map(({ artifactId }) => ({ artifactId }));
  return { id, contextId, status: { state: status?.state }, artifacts: ids };
}
