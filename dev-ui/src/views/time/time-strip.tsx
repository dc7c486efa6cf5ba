import { SkipBack, SkipForward, X } from 'lucide-react';
import { useMemo } from 'react';
import type { Event } from '../../../../src/schemas/event.ts';
import { useLogVersion } from '../../app/current.ts';
import { setQuery, useLocation } from '../../app/location.ts';
import type { Workspace } from '../../app/workspace.ts';
import './time.css';
import { addTokens, noTokens, tokensOf, type Tokens } from '../../log/turns.ts';
import { shownCount, shownTime } from '../../parts/numbers.ts';

/** A slider over the events of the session: all views show the session at the chosen event. */
export function TimeStrip({ workspace }: { readonly workspace: Workspace }) {
  const { log } = workspace;
  const version = useLogVersion(workspace);
  const { query } = useLocation();
  const chosen = query.get('e');
  const position = (chosen === null ? undefined : log.positionOf(chosen)) ?? log.events.length - 1;
  const moment = useMemo(
    () => momentOf(log.events, position),
    // `version` stands for what is in the log
    [log, position, version],
  );
  if (!query.has('time') || log.events.length === 0) return null;
  const last = log.events.length - 1;
  const go = (to: number): void => {
    const event = log.events[Math.min(Math.max(0, to), last)];
    if (event) setQuery({ e: event.id }, { replace: true });
  };
  const event = log.events[position];
  const said = event && `event ${position + 1} of ${last + 1}, ${event.author}, ${shownTime(event.timestamp)}`;
  return (
    <div className="time-strip" role="group" aria-label="Time slider">
      <button
        type="button"
        className="icon-button"
        aria-label="Previous event"
        title="Previous event"
        disabled={position <= 0}
        onClick={() => go(position - 1)}
      >
        <SkipBack size={14} aria-hidden />
      </button>
      <input
        type="range"
        className="grow"
        aria-label="Event"
        aria-valuetext={said}
        min={0}
        max={last}
        value={position}
        onChange={(change) => go(Number(change.target.value))}
      />
      <button
        type="button"
        className="icon-button"
        aria-label="Next event"
        title="Next event"
        disabled={position >= last}
        onClick={() => go(position + 1)}
      >
        <SkipForward size={14} aria-hidden />
      </button>
      <span className="meta time-words">
        {position + 1}/{last + 1} · {event && shownTime(event.timestamp)} · ↑{shownCount(moment.input)} ↓
        {shownCount(moment.output)}
      </span>
      <button
        type="button"
        className="button small"
        disabled={chosen === null}
        onClick={() => setQuery({ e: undefined }, { replace: true })}
      >
        Now
      </button>
      <button
        type="button"
        className="icon-button"
        aria-label="Close the time slider"
        title="Close the time slider"
        onClick={() => setQuery({ time: undefined }, { replace: true })}
      >
        <X size={14} aria-hidden />
      </button>
    </div>
  );
}

/** The tokens of the session up to and including the event at a position. */
function momentOf(events: readonly Event[], position: number): Tokens {
  let sum = noTokens;
  for (const event of events.slice(0, position + 1)) {
    const tokens = tokensOf(event);
    if (tokens) sum = addTokens(sum, tokens);
  }
  return sum;
}
