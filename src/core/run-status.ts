import { AppError, describeError, type ErrorCode, httpStatus } from '../base/errors.ts';
import { isJsonObject } from '../base/json.ts';
import { type Event, functionCalls, functionResponses } from '../schemas/event.ts';
import type { OpenCall, Run, RunStatus } from '../schemas/run-record.ts';
import { keyOf, type Session } from '../schemas/session.ts';

/** How a run ended. */
type RunOutcome = Pick<Run, 'status' | 'error' | 'openCalls'>;

/** Whether the stream of a run contains a stored event: it leaves out the user's own messages. */
export const isShown = ({ author, inputTranscription, actions }: Event): boolean =>
  author !== 'user' || inputTranscription !== undefined || actions.compaction !== undefined;

/** The stored events that the stream of a run contains, in order. */
export const shownEvents = (session: Session, runId: string): Event[] =>
  session.events.filter((event) => event.invocationId === runId && isShown(event));

/** The runs of a session derived from its events, oldest first. They are assumed to have ended. */
export function deriveRuns(session: Session): Run[] {
  const byRun = new Map<string, Event[]>();
  for (const event of session.events) {
    const events = byRun.get(event.invocationId);
    if (events) events.push(event);
    else byRun.set(event.invocationId, [event]);
  }
  const answered = new Set(session.events.flatMap((event) => functionResponses(event).map(({ id }) => id)));
  return [...byRun].filter(([, events]) => isRun(events)).map(([id, events]) => runOf(session, id, events, answered));
}

/** One run derived from its events; `undefined` if there are none. */
export function deriveRun(session: Session, id: string): Run | undefined {
  const first = session.events.findIndex((event) => event.invocationId === id);
  if (first < 0) return undefined;
  const since = session.events.slice(first);
  const events = since.filter((event) => event.invocationId === id);
  if (!isRun(events)) return undefined;
  const answered = new Set(since.flatMap((event) => functionResponses(event).map(({ id: callId }) => callId)));
  return runOf(session, id, events, answered);
}

/** Whether the events are those of a run: state changes and rewinds also have invocation ids, but no message. */
const isRun = (events: readonly Event[]): boolean =>
  events.some(
    ({ author, content, inputTranscription }) => author !== 'user' || content !== undefined || inputTranscription,
  );

function runOf(session: Session, id: string, events: readonly Event[], answered: ReadonlySet<string | undefined>): Run {
  const { appName, userId, sessionId } = keyOf(session);
  const startedAt = events[0]?.timestamp ?? session.lastUpdateTime;
  const last = events.at(-1);
  const openCalls = events.flatMap((event) => openCallsOf(event, answered));
  return {
    id,
    appName,
    userId,
    sessionId,
    ...outcomeOf(last, openCalls),
    createdAt: startedAt,
    startedAt,
    ...(last && { endedAt: last.timestamp }),
  };
}

function outcomeOf(last: Event | undefined, openCalls: OpenCall[]): RunOutcome {
  if (last?.errorCode !== undefined) {
    const error = { code: isModelFailure(last) ? 'model_failed' : last.errorCode, message: last.errorMessage ?? '' };
    return { status: statusOfFailure(error.code), error };
  }
  return openCalls.length > 0 ? { status: 'waiting', openCalls } : { status: 'done' };
}

/** Whether a failed model call made this event: then its `errorCode` is the provider's own. */
const isModelFailure = ({ customMetadata }: Event): boolean =>
  isJsonObject(customMetadata) && customMetadata['errorCategory'] !== undefined;

/** The outcome of a run that an error ended. */
export function outcomeOfFailure(failure: unknown): RunOutcome {
  const { code, message } = describeError(failure);
  return { status: statusOfFailure(code), error: { code, message } };
}

const statusOfFailure = (code: string): RunStatus =>
  code === 'run_cancelled' ? 'cancelled' : code === 'run_interrupted' ? 'interrupted' : 'failed';

/** The error that ended a run; `undefined` if it ended by itself, even with the error of a model. */
export const failureOf = ({ error }: Run): AppError | undefined =>
  error && isOurs(error.code) ? new AppError(error.code, error.message) : undefined;

const isOurs = (code: string): code is ErrorCode => Object.hasOwn(httpStatus, code);

function openCallsOf(event: Event, answered: ReadonlySet<string | undefined>): OpenCall[] {
  const waiting = new Set(event.longRunningToolIds);
  if (waiting.size === 0) return [];
  return functionCalls(event).flatMap(({ id, name }) =>
    id !== undefined && waiting.has(id) && !answered.has(id) ? [{ id, name, eventId: event.id }] : [],
  );
}
