import { z } from 'zod';
import { Event, storedEventJson, Timestamp } from './event.ts';
import { lenient } from './lenient.ts';
import { Name } from './names.ts';

/** JSON values by key. `app:` keys are shared by the app, `user:` keys by the user's sessions, `temp:` keys end with the invocation. */
export const State = z.record(z.string(), z.unknown());
export type State = z.infer<typeof State>;

/** Whose sessions: one user of one app. */
export interface SessionOwner {
  readonly appName: string;
  readonly userId: string;
}

/** Which session. */
export interface SessionKey extends SessionOwner {
  readonly sessionId: string;
}

/**
 * Distinguishes a session from an earlier one with the same key. Stores set it on the sessions they return, and append to
 * no other generation. It never leaves the process, because JSON has no symbols.
 */
export const generation: unique symbol = Symbol.for('agent-server.generation');
export type Generation = number | string;

/** A conversation: its events in order and the state that results from them. `lastUpdateTime` is in seconds. */
export const Session = z
  .object({
    id: z.string(),
    appName: z.string(),
    userId: z.string(),
    state: State,
    events: z.array(Event),
    lastUpdateTime: z.number(),
  })
  .meta({ id: 'Session' });
export type Session = z.infer<typeof Session> & { readonly [generation]?: Generation };

/** A session as authors' code sees it: what it writes goes through the context's `state` and its events, or is lost. */
export type ReadonlySession = Readonly<Omit<Session, 'state' | 'events'>> & {
  readonly state: Readonly<State>;
  readonly events: readonly Readonly<Event>[];
};

/** The same session for the runtime's own writes: what stores append an event to has to be told of it. */
export const writable = (session: ReadonlySession): Session => session as Session;

export const keyOf = (session: Pick<Session, 'id' | 'appName' | 'userId'>): SessionKey => ({
  appName: session.appName,
  userId: session.userId,
  sessionId: session.id,
});

/** Sessions of evaluated cases: lists leave them out, and they are found under any user of their app. */
export const evaluationPrefix = '___eval___session___';
export const isEvaluationSession = (sessionId: string): boolean => sessionId.startsWith(evaluationPrefix);

/** Body of a session creation. `events` are imported in order. */
export const SessionRequest = lenient({
  sessionId: Name.optional(),
  state: State.optional(),
  events: z.array(Event).optional(),
}).meta({ id: 'SessionRequest' });
export type SessionRequest = z.infer<typeof SessionRequest>;

/** Body of a session update: merged into the state; a `null` value deletes its key. */
export const SessionPatch = lenient({ stateDelta: State }).meta({ id: 'SessionPatch' });
export type SessionPatch = z.infer<typeof SessionPatch>;

/** Which part of a history to load: the last `numRecentEvents` (0 and absent: all), then those at or after `afterTimestamp` (seconds). */
export const GetSessionConfig = lenient({
  numRecentEvents: z.number().int().nonnegative().optional(),
  afterTimestamp: Timestamp.optional(),
});
export type GetSessionConfig = z.infer<typeof GetSessionConfig>;

/** The session as JSON text, made from the texts its events already have. */
export function sessionJson(session: Session): string {
  const { events, ...rest } = session;
  const head = JSON.stringify(rest);
  return `${head.slice(0, -1)},"events":[${events.map(storedEventJson).join(',')}]}`;
}
