import { randomUUID } from 'node:crypto';
import { newEvent } from '../core/events/new-event.ts';
import type { EventsCompactionConfig, RunContext } from '../core/runtime.ts';
import type { EventsSummarizer } from '../core/services.ts';
import { type Event, newActions } from '../schemas/event.ts';
import { writable } from '../schemas/session.ts';

/**
 * Sliding-window compaction (`compactionInterval`, `overlapSize`), after each successful run: once `compactionInterval`
 * invocations are not covered by a summary, they and the `overlapSize` covered ones before them are summarised in an event
 * of their own. History is only added to. The other kind of compaction, before a model call, is
 * `agents/token-compaction.ts`; `agents/request/edited-history.ts` decides what a model sees of either. The session of a run
 * lacks the events that a rewind hides (`withoutRewound` in `runner.ts`), so no summary contains them.
 */
export async function compactAfterRun(ctx: RunContext, summarizer: EventsSummarizer): Promise<Event | undefined> {
  const window = windowToCompact(ctx.session.events, ctx.app.eventsCompaction ?? {});
  const [first, last] = [window.at(0), window.at(-1)];
  if (!first || !last) return undefined;
  const summary = await summarizer.summarize(window, ctx.signal);
  if (!summary) return undefined;
  const event = newEvent({ invocationId: `e-${randomUUID()}` }, 'user', {
    actions: {
      ...newActions(),
      compaction: {
        startTimestamp: first.timestamp,
        endTimestamp: last.timestamp,
        compactedContent: { ...summary, role: 'model' },
      },
    },
  });
  return ctx.services.sessions.appendEvent(writable(ctx.session), event);
}

/** The events to summarise now; empty when it is too early or the window is not configured. */
export function windowToCompact(
  events: readonly Event[],
  { compactionInterval, overlapSize }: EventsCompactionConfig,
): readonly Event[] {
  if (compactionInterval === undefined || overlapSize === undefined) return [];
  const covered = events.reduce((end, { actions }) => Math.max(end, actions.compaction?.endTimestamp ?? 0), 0);
  const raw = events.filter(({ actions }) => actions.compaction === undefined);
  const firstNew = raw.findIndex(({ timestamp }) => timestamp > covered);
  if (firstNew < 0) return [];
  if (invocationsOf(raw.slice(firstNew)).length < compactionInterval) return [];
  const overlap = overlapSize > 0 ? invocationsOf(raw.slice(0, firstNew)).slice(-overlapSize) : [];
  const start = overlap[0] === undefined ? firstNew : raw.findIndex(({ invocationId }) => invocationId === overlap[0]);
  return raw.slice(start);
}

const invocationsOf = (events: readonly Event[]): string[] => [...new Set(events.map((event) => event.invocationId))];
