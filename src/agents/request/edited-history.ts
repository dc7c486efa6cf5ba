import type { Event } from '../../schemas/event.ts';

/** Whether an event changes what other events mean: it sums some up, or takes some back. */
export const isEdit = ({ actions }: Event): boolean =>
  actions.compaction !== undefined || actions.rewindBeforeInvocationId !== undefined;

/** The history after rewinds and compactions: without what was taken back, summaries in place of what they sum up. */
export function effectiveEvents(events: readonly Event[], agent: string): Event[] {
  return compacted(rewound(events), agent);
}

function rewound(events: readonly Event[]): Event[] {
  const kept: Event[] = [];
  for (const event of events) {
    const from = event.actions.rewindBeforeInvocationId;
    if (from === undefined) {
      kept.push(event);
      continue;
    }
    const first = kept.findIndex(({ invocationId }) => invocationId === from);
    if (first >= 0) kept.length = first;
  }
  return kept;
}

function compacted(events: readonly Event[], agent: string): Event[] {
  const summaries = events.filter(({ actions }) => actions.compaction);
  const current = summaries.filter(
    (summary, index) => !summaries.slice(index + 1).some((later) => covers(later, summary)),
  );
  const kept: Event[] = [];
  const waiting = [...current].toSorted((a, b) => endOf(a) - endOf(b));
  for (const event of events) {
    if (event.actions.compaction) continue;
    if (current.some((summary) => isInside(event, summary))) continue;
    while (waiting[0] && endOf(waiting[0]) < event.timestamp) kept.push(asContent(waiting.shift() as Event, agent));
    kept.push(event);
  }
  return [...kept, ...waiting.map((summary) => asContent(summary, agent))];
}

const endOf = (summary: Event): number => summary.actions.compaction?.endTimestamp ?? 0;
const startOf = (summary: Event): number => summary.actions.compaction?.startTimestamp ?? 0;

const isInside = (event: Event, summary: Event): boolean =>
  event.timestamp >= startOf(summary) && event.timestamp <= endOf(summary);

const covers = (outer: Event, inner: Event): boolean =>
  startOf(outer) <= startOf(inner) && endOf(outer) >= endOf(inner);

/** The summary as something the agent itself said. */
function asContent(summary: Event, agent: string): Event {
  const { actions: _, ...rest } = summary;
  const content = {
    ...summary.actions.compaction?.compactedContent,
    role: 'model',
    parts: summary.actions.compaction?.compactedContent.parts ?? [],
  };
  return { ...rest, author: agent, content, timestamp: endOf(summary), actions: emptyActions };
}

const emptyActions = { stateDelta: {}, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} };
