import { create } from 'zustand';
import type { Event } from '../../../src/schemas/event.ts';

const useAnnouncement = create(() => ({ text: '' }));

/** Announces a text to screen readers, politely. The same text twice is announced twice. */
export function announce(text: string): void {
  const { text: before } = useAnnouncement.getState();
  useAnnouncement.setState({ text: before === text ? `${text}\u00A0` : text });
}

/** The live region of the page. */
export function LiveRegion() {
  const text = useAnnouncement((state) => state.text);
  return (
    <div className="visually-hidden" role="status" aria-live="polite" data-testid="announcements">
      {text}
    </div>
  );
}

/** Announces what a run does to screen readers: whole events, not every chunk. */
export function announceRun(events: readonly Event[]): void {
  const event = events.findLast((one) => !one.partial);
  if (!event) return;
  const { author, content, actions, errorMessage } = event;
  const parts = content?.parts ?? [];
  const calls = parts.flatMap((part) => (part.functionCall ? [part.functionCall.name] : []));
  const length = parts.reduce((sum, part) => sum + (part.thought ? 0 : (part.text?.length ?? 0)), 0);
  if (errorMessage !== undefined) announce(`${author} failed: ${errorMessage}`);
  else if (actions.transferToAgent !== undefined) announce(`${author} transfers to ${actions.transferToAgent}`);
  else if (calls.length > 0) announce(`${author} called ${calls.join(', ')}`);
  else if (length > 0) announce(`Answer complete, ${length} characters`);
}
