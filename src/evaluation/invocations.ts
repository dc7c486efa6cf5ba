import { activeEvents, stateDeltaBackTo } from '../core/events/history.ts';
import type { EvalCase, Invocation } from '../schemas/evaluation/eval-set.ts';
import { type Event, isFinalResponse } from '../schemas/event.ts';
import type { Session, State } from '../schemas/session.ts';

/** The turns of a history: the user's message, the agent's events and its final response. Chunks are left out. */
export function invocationsOf(events: readonly Event[]): Invocation[] {
  const byInvocation = new Map<string, Event[]>();
  for (const event of activeEvents(events)) {
    if (event.partial) continue;
    const known = byInvocation.get(event.invocationId);
    if (known) known.push(event);
    else byInvocation.set(event.invocationId, [event]);
  }
  return [...byInvocation].flatMap(([invocationId, own]) => invocationOf(invocationId, own) ?? []);
}

function invocationOf(invocationId: string, events: readonly Event[]): Invocation | undefined {
  const question = events.find((event) => event.author === 'user' && event.content);
  if (!question?.content) return undefined; // a change of state without a message
  const answers = events.filter((event) => event.author !== 'user' && event.content?.parts.some(hasContent));
  const final = answers.findLast((event) => isFinalResponse(event));
  const invocationEvents = answers.map((event) => ({
    author: event.author,
    // The text of the final response is listed there, and not counted twice; calls in it count as calls.
    ...((event !== final || event.content?.parts.some((part) => part.functionCall)) && { content: event.content }),
    ...(event.groundingMetadata && { groundingMetadata: event.groundingMetadata }),
    ...(event.usageMetadata && { usageMetadata: event.usageMetadata }),
    ...(event.modelVersion !== undefined && { modelVersion: event.modelVersion }),
  }));
  return {
    invocationId,
    userContent: question.content,
    ...(final?.content && { finalResponse: final.content }),
    intermediateData: { invocationEvents },
    creationTimestamp: question.timestamp,
  };
}

const hasContent = (part: object): boolean =>
  ['functionCall', 'functionResponse', 'text', 'inlineData'].some((key) => key in part);

export interface CaseOfSession {
  readonly evalId: string;
  /** Only these turns; absent: all. */
  readonly invocationIds?: readonly string[] | undefined;
}

/** Makes a case from a session: its turns, and its state before the first of them. */
export function caseOfSession(session: Session, { evalId, invocationIds }: CaseOfSession): EvalCase {
  const events = activeEvents(session.events);
  const isWanted = (id: string): boolean => invocationIds?.includes(id) ?? true;
  const first = events.findIndex((event) => isWanted(event.invocationId));
  return {
    evalId,
    conversation: invocationsOf(events).filter(({ invocationId }) => isWanted(invocationId)),
    sessionInput: {
      appName: session.appName,
      userId: session.userId,
      state: withoutOwnKeys(stateBefore(session, events, Math.max(first, 0))),
    },
    creationTimestamp: Date.now() / 1000,
  };
}

/** The state before an event, as far as known: keys that were set later get their value from earlier events. */
function stateBefore(session: Session, events: readonly Event[], count: number): State {
  const state: State = { ...session.state };
  for (const [key, value] of Object.entries(stateDeltaBackTo(events, count))) {
    if (value === null) delete state[key];
    else state[key] = value;
  }
  return state;
}

/** Without the state keys that clients and the runtime use internally. */
export function withoutOwnKeys(state: State): State {
  return Object.fromEntries(
    Object.entries(state).filter(([key]) => key !== '__session_metadata__' && !key.startsWith('_adk_')),
  );
}
