import type { Event } from '../../../src/schemas/event.ts';
import { announce } from './announce.tsx';

/** Tells screen readers what a run does, in whole steps: not every token. */
export function announceRun(events: readonly Event[]): void {
  const event = events.findLast((one) => !one.partial);
  if (!event) return;
  const { author, content, actions, errorMessage } = event;
  const parts = content?.parts ?? [];
  const calls = parts.flatMap((part) => (part.functionCall ? [part.functionCall.name] : []));
  const length = parts.reduce((sum, part) => sum + (part.thought ? 0 : (part.text?.length ?? 0)), 0);
  if (errorMessage !== undefined) announce(`${author} failed: ${errorMessage}`);
  else if (actions.transferToAgent !== undefined) announce(`${author} hands over to ${actions.transferToAgent}`);
  else if (calls.length > 0) announce(`${author} called ${calls.join(', ')}`);
  else if (length > 0) announce(`Answer complete, ${length} characters`);
}
