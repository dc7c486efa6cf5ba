import type { Event } from '../../../../src/schemas/event.ts';
import type { Row } from '../../log/rows.ts';

interface Saved {
  readonly name: string;
  readonly version: number;
  readonly eventId: string;
}

/** The artifacts that the events of a row saved, including the response of a call. */
export function savedIn(row: Row): Saved[] {
  const events = new Set<Event | undefined>([row.event]);
  if (row.kind === 'call') events.add(row.responseEvent);
  if (row.kind === 'fold') for (const call of row.calls) events.add(call.responseEvent);
  return [...events].flatMap((event) =>
    Object.entries(event?.actions.artifactDelta ?? {}).map(([name, version]) => ({
      name,
      version,
      eventId: event?.id ?? '',
    })),
  );
}
