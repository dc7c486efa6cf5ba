import { activeEvents } from '../../core/events/history.ts';
import { type Event, newActions } from '../../schemas/event.ts';

/** Whether an event edits the history: a compaction sums events up, a rewind hides them. */
export const isEdit = ({ actions }: Event): boolean =>
  actions.compaction !== undefined || actions.rewindBeforeInvocationId !== undefined;

/**
 * The history after rewinds and compactions: without hidden events, and with each summary, as the agent's own words, in
 * place of the events it covers. A summary within the range of a later one is left out.
 */
export function effectiveEvents(events: readonly Event[], agent: string): Event[] {
  const active = activeEvents(events);
  const summaries = active.filter(({ actions }) => actions.compaction);
  const current = summaries.filter(
    (summary, index) => !summaries.slice(index + 1).some((later) => covers(later, summary)),
  );
  const isSummedUp = insideOf(current);
  const waiting = current.toSorted((a, b) => endOf(a) - endOf(b));
  const kept: Event[] = [];
  let next = 0;
  for (const event of active) {
    if (event.actions.compaction || isSummedUp(event.timestamp)) continue;
    for (; next < waiting.length; next += 1) {
      const summary = waiting[next] as Event;
      if (endOf(summary) >= event.timestamp) break;
      kept.push(asSpoken(summary, agent));
    }
    kept.push(event);
  }
  return [...kept, ...waiting.slice(next).map((summary) => asSpoken(summary, agent))];
}

const endOf = (summary: Event): number => summary.actions.compaction?.endTimestamp ?? 0;
const startOf = (summary: Event): number => summary.actions.compaction?.startTimestamp ?? 0;

const covers = (outer: Event, inner: Event): boolean =>
  startOf(outer) <= startOf(inner) && endOf(outer) >= endOf(inner);

/** A test whether a time lies in the range of any summary, in logarithmic time: long histories have many of both. */
function insideOf(summaries: readonly Event[]): (time: number) => boolean {
  const byStart = summaries.toSorted((a, b) => startOf(a) - startOf(b));
  let latest = 0;
  const latestEnds = byStart.map((summary) => (latest = Math.max(latest, endOf(summary))));
  return (time) => {
    let low = 0;
    let high = byStart.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (startOf(byStart[middle] as Event) <= time) low = middle + 1;
      else high = middle;
    }
    return low > 0 && (latestEnds[low - 1] ?? 0) >= time;
  };
}

function asSpoken(summary: Event, agent: string): Event {
  const { compactedContent } = summary.actions.compaction ?? {};
  const content = { role: 'model', parts: compactedContent?.parts ?? [] };
  return { ...summary, author: agent, content, timestamp: endOf(summary), actions: newActions() };
}
