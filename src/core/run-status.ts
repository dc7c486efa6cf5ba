import { AppError, describeError, type ErrorCode, httpStatus } from '../base/errors.ts';
import { isJsonObject } from '../base/json.ts';
import { type Event, functionCalls, functionResponses } from '../schemas/event.ts';
import type { OpenCall, Run, RunStatus } from '../schemas/run-record.ts';
import { keyOf, type Session } from '../schemas/session.ts';

/** How a run ended. */
type RunOutcome = Pick<Run, 'status' | 'error' | 'openCalls'>;

/** Whether the stream of a run shows a stored event: the user's own messages are not shown back. */
export const isShown = ({ author, inputTranscription, actions }: Event): boolean =>
  author !== 'user' || inputTranscription !== undefined || actions.compaction !== undefined;

/** The stored events that the stream of a run shows, in order. */
export const shownEvents = (session: Session, runId: string): Event[] =>
  session.events.filter((event) => event.invocationId === runId && isShown(event));

/** The runs of a session as its events tell of them, oldest first. They are taken to be over. */
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

/** One of them; `undefined` when no event tells of it. */
export function deriveRun(session: Session, id: string): Run | undefined {
  const first = session.events.findIndex((event) => event.invocationId === id);
  if (first < 0) return undefined;
  const since = session.events.slice(first);
  const events = since.filter((event) => event.invocationId === id);
  if (!isRun(events)) return undefined;
  const answered = new Set(since.flatMap((event) => functionResponses(event).map(({ id: callId }) => callId)));
  return runOf(session, id, events, answered);
}

/** Whether somebody said something: changes of the state and rewinds are stored under ids of their own. */
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

/** Whether the event is what a model that failed left: its code is the provider's word for that. */
const isModelFailure = ({ customMetadata }: Event): boolean =>
  isJsonObject(customMetadata) && customMetadata['errorCategory'] !== undefined;

/** What a run that something ended is called. */
export function outcomeOfFailure(failure: unknown): RunOutcome {
  const { code, message } = describeError(failure);
  return { status: statusOfFailure(code), error: { code, message } };
}

const statusOfFailure = (code: string): RunStatus =>
  code === 'run_cancelled' ? 'cancelled' : code === 'run_interrupted' ? 'interrupted' : 'failed';

/** What a run that is over was ended by; `undefined` when it ended by itself, if only with a model's error. */
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
