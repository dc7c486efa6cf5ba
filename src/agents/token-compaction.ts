import { errorText } from '../base/errors.ts';
import { newEvent } from '../core/events/new-event.ts';
import type { Model } from '../core/model.ts';
import type { RunContext } from '../core/runtime.ts';
import { llmSummarizer } from '../models/llm-summarizer.ts';
import { type Event, functionCalls, functionResponses, newActions } from '../schemas/event.ts';

const charactersPerToken = 4;

/**
 * Token compaction (`tokenThreshold`, `eventRetentionSize`), before a model call: sums up all but the newest events once
 * prompts have grown beyond the threshold. The other kind, after a run, is `runner/window-compaction.ts`;
 * `request/edited-history.ts` decides what a model sees of either. The summary is an event
 * for the history, which is only added to. A failed summary is logged, and repeated at the next step.
 */
export async function tokenCompaction(model: Model, ctx: RunContext): Promise<Event | undefined> {
  const { tokenThreshold, eventRetentionSize, summarizer = llmSummarizer(model) } = ctx.app.eventsCompaction ?? {};
  if (tokenThreshold === undefined || eventRetentionSize === undefined) return undefined;
  const { events } = ctx.session;
  const at = events.findLastIndex(({ actions }) => actions.compaction !== undefined);
  const previous = events[at];
  const covered = previous?.actions.compaction?.endTimestamp ?? 0;
  const fresh = events.filter(({ actions, timestamp }) => !actions.compaction && timestamp > covered);
  if (promptTokens(events.slice(at + 1), fresh) <= tokenThreshold) return undefined;
  const old = fresh.slice(0, boundary(fresh, eventRetentionSize));
  const [first, last] = [old.at(0), old.at(-1)];
  if (!first || !last) return undefined;
  try {
    const summary = await summarizer.summarize(previous ? [previous, ...old] : old, ctx.signal);
    if (!summary) return undefined;
    const compaction = {
      startTimestamp: previous?.actions.compaction?.startTimestamp ?? first.timestamp,
      endTimestamp: last.timestamp,
      compactedContent: { ...summary, role: 'model' },
    };
    return newEvent({ invocationId: `e-${crypto.randomUUID()}` }, 'user', { actions: { ...newActions(), compaction } });
  } catch (error) {
    ctx.signal.throwIfAborted();
    ctx.log?.warn({ agent: ctx.agent.name, reason: errorText(error) }, 'history could not be summed up');
    return undefined;
  }
}

/** Tokens of the newest prompt since the last summary, as its model counted them, or estimated from the events. */
function promptTokens(since: readonly Event[], fresh: readonly Event[]): number {
  const counted = since.findLast(({ usageMetadata }) => usageMetadata?.promptTokenCount !== undefined);
  if (counted) return counted.usageMetadata?.promptTokenCount ?? 0;
  let length = 0;
  for (const { content } of fresh) for (const { text } of content?.parts ?? []) length += text?.length ?? 0;
  return length / charactersPerToken;
}

/** How many events from the start may be summed up when so many, and the newest at least, stay; calls and responses are not parted. */
function boundary(events: readonly Event[], kept: number): number {
  let at = Math.max(0, events.length - Math.max(1, kept));
  const needed = new Set(
    events
      .slice(at)
      .flatMap(functionResponses)
      .map(({ id }) => id),
  );
  for (let index = at - 1; index >= 0 && needed.size > 0; index -= 1) {
    const event = events[index] as Event;
    const calls = functionCalls(event).filter(({ id }) => needed.delete(id));
    if (calls.length === 0) continue;
    for (const { id } of events.slice(index, at).flatMap(functionResponses)) needed.add(id);
    for (const { id } of functionCalls(event)) needed.delete(id);
    at = index;
  }
  while (at > 0 && events[at - 1]?.timestamp === events[at]?.timestamp) at -= 1;
  return at;
}
