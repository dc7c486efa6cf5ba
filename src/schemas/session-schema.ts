import { z } from 'zod';
import { Event, Timestamp } from './event-schema.ts';
import { lenient } from './lenient.ts';
import { Name } from './names.ts';

/** JSON values by key. `app:` keys are shared by the app, `user:` keys by the user's sessions, `temp:` keys end with the invocation. */
export const State = z.record(z.string(), z.unknown());
export type State = z.infer<typeof State>;

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
