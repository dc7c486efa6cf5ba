import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { ModelResponse } from '../core/model.ts';
import type { Plugin } from '../core/runtime.ts';
import { Content } from '../schemas/content-schema.ts';
import { functionResponsesOf } from '../schemas/content.ts';

// A session as in ADK's test files: events in JSON. It is replayed with the recorded model responses, and its events are
// compared without members that differ from run to run.

/** Members that differ from run to run, or that only one kind of server writes. */
const volatile = new Set([
  'id',
  'timestamp',
  'invocationId',
  'modelVersion',
  'finishReason',
  'usageMetadata',
  'avgLogprobs',
  'cacheMetadata',
  'logprobsResult',
  'citationMetadata',
  'interactionId',
  'turnComplete',
  'nodeInfo',
]);

/** Calls with which the runtime requests something of the user; no model made them. */
const questions = new Set(['adk_request_confirmation', 'adk_request_credential', 'adk_request_input']);
const setModelResponse = 'set_model_response';

const contentOf = (event: JsonObject): Content | undefined => {
  const parsed = Content.safeParse(event['content']);
  return parsed.success && parsed.data.parts.length > 0 ? parsed.data : undefined;
};

const asksUser = ({ parts }: Content): boolean =>
  parts.some(({ functionCall }) => functionCall && questions.has(functionCall.name ?? ''));

/** The user's messages, in order. */
export function messagesOf(events: readonly JsonObject[]): Content[] {
  const userEvents = events.filter(
    ({ author, nodeInfo }) => author === 'user' && !(isJsonObject(nodeInfo) && nodeInfo['path']),
  );
  return userEvents.map(contentOf).filter((content) => content !== undefined);
}

/** Replays the recorded model responses, per agent. Throws when an agent has no response left. */
export function answersPlugin(events: readonly JsonObject[]): Plugin {
  const answers = new Map<string, Content[]>();
  let isSet = false;
  for (const event of events) {
    const content = contentOf(event);
    if (!content || event['author'] === 'user') continue;
    if (content.role === 'model' && !asksUser(content)) {
      // The runtime repeats the answer of `set_model_response` as text, which is no model response.
      if (!isSet) answers.set(String(event['author']), [...(answers.get(String(event['author'])) ?? []), content]);
      isSet = false;
    }
    if (functionResponsesOf(content).some(({ name }) => name === setModelResponse)) isSet = true;
  }
  return {
    name: 'recorded-session',
    async *aroundModel({ context: { agentName } }): AsyncGenerator<ModelResponse, void, void> {
      const content = answers.get(agentName)?.shift();
      if (!content) throw new Error(`The test has no further answer of the model of agent "${agentName}"`);
      yield { content };
    },
  };
}

/** Events for comparison: without volatile and empty members, with numbers for the ids of calls, and in a stable order. */
export function comparable(events: readonly JsonObject[]): string[] {
  return numbered(events)
    .map((event) => Object.fromEntries(Object.entries(event).filter(([key]) => !volatile.has(key))))
    .map((event) => JSON.stringify(sorted(event)))
    .toSorted();
}

/** Events as stored in a test file. */
export function storable(events: readonly JsonObject[]): JsonObject[] {
  return numbered(events).map((event, index) => {
    const kept = Object.entries(event).filter(([key]) => !volatile.has(key) || key === 'invocationId');
    return { ...Object.fromEntries(kept), id: `e-${index + 1}` };
  });
}

/** Without signatures, empty values and the role of requests to the user; ids of calls are replaced by numbers. */
function numbered(events: readonly JsonObject[]): JsonObject[] {
  const numbers = new Map<string, string>();
  for (const { functionCall } of events.flatMap((event) => contentOf(event)?.parts ?? [])) {
    if (functionCall?.id !== undefined) numbers.set(functionCall.id, `fc-${numbers.size + 1}`);
  }
  const renamed = (value: unknown): unknown => {
    if (typeof value === 'string') return numbers.get(value) ?? value;
    if (Array.isArray(value)) return value.map(renamed);
    if (!isJsonObject(value)) return value;
    const entries = Object.entries(value).filter(([key, field]) => key !== 'thoughtSignature' && field !== null);
    return Object.fromEntries(entries.map(([key, field]) => [numbers.get(key) ?? key, renamed(field)]));
  };
  return events.map((event) => {
    const { content, actions, longRunningToolIds, ...rest } = renamed(event) as JsonObject;
    const isQuestion = asksUser(contentOf(event) ?? { parts: [] });
    const { role, ...parts } = isJsonObject(content) ? content : {};
    const acts = Object.entries(isJsonObject(actions) ? actions : {}).filter(([, field]) => !isEmpty(field));
    return {
      ...rest,
      ...(content !== undefined && { content: isQuestion ? parts : { ...parts, role } }),
      ...(acts.length > 0 && { actions: Object.fromEntries(acts) }),
      ...(Array.isArray(longRunningToolIds) &&
        longRunningToolIds.length > 0 && { longRunningToolIds: longRunningToolIds.map(String).toSorted() }),
    };
  });
}

const isEmpty = (value: unknown): boolean => isJsonObject(value) && Object.keys(value).length === 0;

/** The same value with all keys sorted. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, field]) => [key, sorted(field)]));
}
