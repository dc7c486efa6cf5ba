import type { A2aUpdate } from '../../a2a/wire.ts';
import { isJsonObject } from '../../base/json.ts';
import { isImported } from '../../core/events/imported-events.ts';
import type { RunContext } from '../../core/runtime.ts';
import type { Content, FunctionResponse, Part } from '../../schemas/content.ts';
import { type Event, functionCalls, functionResponses } from '../../schemas/event.ts';
import { effectiveEvents, isEdit } from '../request/edited-history.ts';
import { narrate, narrateResponse } from '../request/narration.ts';
import { isOnBranch, kindOf } from '../request/visibility.ts';
import { requestNames } from '../reserved-names.ts';

/** Keys in an event's `customMetadata` that identify the remote conversation. */
export const remoteKeys = {
  taskId: 'a2a:task_id',
  contextId: 'a2a:context_id',
  request: 'a2a:request',
  response: 'a2a:response',
  aggregated: 'a2a:aggregated',
} as const;

/** The next message to a remote agent. */
export interface NextMessage {
  readonly parts: readonly Part[];
  /** Ids of the conversation so far; the task's only while the task waits for an answer. */
  readonly taskId?: string;
  readonly contextId?: string;
  /** Ids of the artifacts that the task has sent so far. */
  readonly knownArtifacts: readonly string[];
}

/**
 * The user's answer to the remote agent's request; without one, everything since the remote agent's last event, with
 * the texts of other agents as narration.
 */
export function nextMessage(ctx: RunContext): NextMessage {
  const name = ctx.agent.name;
  const all = ctx.session.events.some(isEdit) ? effectiveEvents(ctx.session.events, name) : ctx.session.events;
  const events = all.filter((event) => isOnBranch(event.branch, ctx.branch));
  const newest = events.at(-1);
  const request = newest?.author === 'user' ? requestAnsweredBy(newest, events, name) : undefined;
  const isOwn = (event: Event): boolean => event.author === name && !isImported(event);
  const own = events.filter(isOwn);
  if (newest && request) return { ...conversationOf(request, own), parts: answerParts(newest, request) };

  const lastOwn = events.findLastIndex(isOwn);
  const parts = events.slice(lastOwn + 1).flatMap(partsOf);
  const last = own.at(-1);
  if (last && isWaiting(last)) return { ...conversationOf(last, own), parts };
  const contextId = own.findLast((event) => metadataText(event, remoteKeys.contextId) !== undefined);
  return { parts, knownArtifacts: [], ...(contextId && contextOf(contextId)) };
}

/** The event with the remote agent's request that the message answers. */
function requestAnsweredBy(message: Event, events: readonly Event[], name: string): Event | undefined {
  const ids = new Set(functionResponses(message).map(({ id }) => id));
  return events.findLast(
    (event) =>
      event.author === name &&
      !isImported(event) &&
      metadataText(event, remoteKeys.taskId) !== undefined &&
      functionCalls(event).some(({ id }) => id !== undefined && ids.has(id)),
  );
}

/** Responses to the remote agent's calls stay function responses; answers to its input requests become text. */
function answerParts(message: Event, request: Event): Part[] {
  const calls = new Map(functionCalls(request).map((call) => [call.id, call.name]));
  return (message.content?.parts ?? []).flatMap((part): Part[] => {
    const { functionResponse } = part;
    if (!functionResponse) return sendable(part);
    if (calls.get(functionResponse.id) !== functionResponse.name) return [];
    return functionResponse.name === requestNames.input ? [{ text: answerText(functionResponse) }] : [part];
  });
}

function answerText({ response }: FunctionResponse): string {
  const value = 'result' in response && Object.keys(response).length === 1 ? response['result'] : response;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function partsOf(event: Event): Part[] {
  const { content, author } = event;
  if (!content || isHidden(content)) return [];
  if (author !== 'user') return narrate(event)?.parts ?? [];
  return content.parts.flatMap((part) =>
    part.functionResponse
      ? [narrateResponse(part.functionResponse.name, part.functionResponse.response, author)]
      : sendable(part),
  );
}

const isHidden = (content: Content): boolean => ['internal', 'invisible'].includes(kindOf(content));

/** Leaves out what a peer cannot use: thoughts, and references to artifacts of this server. */
const sendable = (part: Part): Part[] =>
  part.thought || part.text === '' || part.fileData?.fileUri.startsWith('artifact://') ? [] : [part];

const isWaiting = ({ longRunningToolIds = [] }: Event): boolean => longRunningToolIds.length > 0;

function conversationOf(request: Event, own: readonly Event[]): Omit<NextMessage, 'parts'> {
  const taskId = metadataText(request, remoteKeys.taskId);
  if (taskId === undefined) return { ...contextOf(request), knownArtifacts: [] };
  const knownArtifacts = own.filter((event) => metadataText(event, remoteKeys.taskId) === taskId).flatMap(artifactsOf);
  return { ...contextOf(request), taskId, knownArtifacts };
}

function contextOf(event: Event): Pick<NextMessage, 'contextId'> {
  const contextId = metadataText(event, remoteKeys.contextId);
  return contextId === undefined ? {} : { contextId };
}

/** Ids of the A2A artifacts that an event was made of. */
function artifactsOf({ customMetadata }: Event): string[] {
  const response = isJsonObject(customMetadata) ? customMetadata[remoteKeys.response] : undefined;
  const { artifactUpdate, task } = isJsonObject(response) ? (response as A2aUpdate) : {};
  return [artifactUpdate?.artifact, ...(task?.artifacts ?? [])].flatMap((artifact) => artifact?.artifactId ?? []);
}

function metadataText({ customMetadata }: Event, key: string): string | undefined {
  const value = isJsonObject(customMetadata) ? customMetadata[key] : undefined;
  return typeof value === 'string' ? value : undefined;
}
