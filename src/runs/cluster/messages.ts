import { z } from 'zod';
import type { Position, StreamedEvent } from '../../core/runs.ts';
import { Event } from '../../schemas/event-schema.ts';

// What replicas send each other. Any message may get lost: each only spares the receiver a poll of the database. The
// field names of a position (`whole`, `piece`) and the types stay as they are, because replicas of two versions may run
// side by side.

const position = { whole: z.number().int(), piece: z.number().int() };

export const RunMessage = z.discriminatedUnion('type', [
  /** The run may be the next of its session. */
  z.object({ type: z.literal('go'), id: z.string() }),
  /** The run is to end. */
  z.object({ type: z.literal('cancel'), id: z.string(), reason: z.string() }),
  /** A client of the replica `from` waits for the end of the run. */
  z.object({ type: z.literal('wait'), id: z.string(), from: z.string() }),
  /** The run is over, or no longer here. */
  z.object({ type: z.literal('over'), id: z.string() }),
  /** The replica `from` follows the run and has its events up to this position. Repeated while it follows. */
  z.object({ type: z.literal('join'), id: z.string(), from: z.string(), ...position }),
  /** The run has stored an event, or is over. */
  z.object({ type: z.literal('news'), id: z.string() }),
  /** Chunks, which are stored nowhere. */
  z.object({ type: z.literal('pieces'), id: z.string(), frames: z.array(z.object({ event: Event, ...position })) }),
]);
export type RunMessage = z.infer<typeof RunMessage>;

/** `undefined` for what cannot be read, such as a message of another version. */
export function readMessage(text: string): RunMessage | undefined {
  try {
    return RunMessage.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

export const subscribeMessage = (id: string, from: string, { events, chunks }: Position): string =>
  JSON.stringify({ type: 'join', id, from, whole: events, piece: chunks });

/** One chunk of the message below. */
export const chunkText = ({ event, events, chunks }: StreamedEvent): string =>
  JSON.stringify({ event, whole: events, piece: chunks });

export const chunksMessage = (id: string, chunks: readonly string[]): string =>
  `{"type":"pieces","id":${JSON.stringify(id)},"frames":[${chunks.join(',')}]}`;

export const positionOf = ({ whole, piece }: { whole: number; piece: number }): Position => ({
  events: whole,
  chunks: piece,
});
