import type { Event } from '../../../../src/schemas/event.ts';

/** The event as it is stored. */
export function Raw({ event }: { readonly event: Event | undefined }) {
  return <pre className="plain">{JSON.stringify(event, undefined, 2)}</pre>;
}
