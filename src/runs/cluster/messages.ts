import { z } from 'zod';
import { Event } from '../../schemas/event.ts';

const place = { whole: z.number().int(), piece: z.number().int() };

/** What replicas tell each other. Any message may get lost: each only spares the other a look into the store. */
export const RunMessage = z.discriminatedUnion('type', [
  /** It may be this run's turn. */
  z.object({ type: z.literal('go'), id: z.string() }),
  /** The run shall end. */
  z.object({ type: z.literal('cancel'), id: z.string(), reason: z.string() }),
  /** Somebody at the replica `from` waits for the end of the run. */
  z.object({ type: z.literal('wait'), id: z.string(), from: z.string() }),
  /** The run is over, or not here any more. */
  z.object({ type: z.literal('over'), id: z.string() }),
  /** Somebody at the replica `from` follows the run, and has its events up to this place. Sent again and again. */
  z.object({ type: z.literal('join'), id: z.string(), from: z.string(), ...place }),
  /** The run has stored an event, or is over. */
  z.object({ type: z.literal('news'), id: z.string() }),
  z.object({
    type: z.literal('pieces'),
    id: z.string(),
    frames: z.array(z.object({ event: Event, ...place })),
  }),
]);
export type RunMessage = z.infer<typeof RunMessage>;

/** `undefined` for what makes no sense, such as a message of another version. */
export function readMessage(text: string): RunMessage | undefined {
  try {
    return RunMessage.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
