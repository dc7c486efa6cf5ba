import type { z } from 'zod';
import type { Event } from './event-schema.ts';
import { storedEventJson } from './event.ts';
import type { Session as SessionSchema, State } from './session-schema.ts';

export type { GetSessionConfig, SessionPatch, SessionRequest, State } from './session-schema.ts';

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
export type Session = z.infer<typeof SessionSchema> & { readonly [generation]?: Generation };

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

/** The session as JSON text, made from the texts its events already have. */
export function sessionJson(session: Session): string {
  const { events, ...rest } = session;
  const head = JSON.stringify(rest);
  return `${head.slice(0, -1)},"events":[${events.map(storedEventJson).join(',')}]}`;
}
