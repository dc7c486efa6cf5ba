import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useEffect, useMemo, useRef } from 'react';
import type { Event } from '../../../../src/schemas/event.ts';
import { useLogVersion } from '../../app/current.ts';
import { FilterBar } from '../../app/filter-bar.tsx';
import { setQuery, useLocation } from '../../app/location.ts';
import { moveSelection, useMoves } from '../../app/moves.ts';
import type { Workspace } from '../../app/workspace.ts';
import { eventFits, kindOf, parseFilter } from '../../log/filter.ts';
import { tokensOf } from '../../log/turns.ts';
import { Author } from '../../parts/author.tsx';
import { shownCount, shownTime } from '../../parts/numbers.ts';
import { Empty } from '../../parts/states.tsx';
import './events.css';

const rowHeight = 32;
const longest = 200;

/** Every stored event, one line each: none is left out or merged. */
export function Events({ workspace }: { readonly workspace: Workspace }) {
  const version = useLogVersion(workspace);
  const { query } = useLocation();
  const text = query.get('q') ?? '';
  const selected = query.get('e');
  const { log } = workspace;
  const scroller = useRef<HTMLDivElement>(null);
  const events = useMemo(() => {
    void version; // the log is the same object, whatever is added to it
    const filter = parseFilter(text);
    return text === '' ? log.events : log.events.filter((event) => eventFits(event, filter));
  }, [log, version, text]);
  const virtual = useVirtualizer({
    count: events.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  });
  const current = selected === null ? -1 : events.findIndex(({ id }) => id === selected);
  useEffect(() => {
    if (current >= 0) virtual.scrollToIndex(current);
  }, [current, virtual]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const move = ({ ArrowDown: 'next', ArrowUp: 'previous' } as const)[event.key];
    if (move === undefined) return;
    event.preventDefault();
    moveSelection(move);
  };
  useMoves({
    ids: (index) => events[index]?.id,
    count: events.length,
    current,
    beginsTurn: (index) => events[index]?.author === 'user',
    scroller,
  });
  return (
    <>
      <FilterBar workspace={workspace} />
      {events.length === 0 && <Empty title={text === '' ? 'No events yet' : 'No events match the filter'} />}
      <div ref={scroller} className="events">
        <div
          role="listbox"
          aria-label="Events"
          aria-activedescendant={current < 0 ? undefined : `event-line-${current}`}
          tabIndex={0}
          className="virtual-inner"
          style={{ height: virtual.getTotalSize() }}
          onKeyDown={onKeyDown}
        >
          {virtual.getVirtualItems().map(({ index, start }) => {
            const event = events[index];
            return (
              event && (
                <div
                  key={event.id}
                  id={`event-line-${index}`}
                  role="option"
                  aria-selected={index === current}
                  className="virtual-item event-line"
                  data-kind={kindOf(event)}
                  style={{ transform: `translateY(${start}px)` }}
                  onClick={() => setQuery({ e: event.id })}
                >
                  <Line event={event} position={log.positionOf(event.id) ?? index} />
                </div>
              )
            );
          })}
        </div>
      </div>
    </>
  );
}

function Line({ event, position }: { event: Event; position: number }) {
  const tokens = tokensOf(event);
  return (
    <>
      <span className="meta event-number">{position + 1}</span>
      <span className="meta">{shownTime(event.timestamp)}</span>
      <Author name={event.author} />
      <span className="event-kind">{kindOf(event)}</span>
      <span className="truncate grow event-text">{summaryOf(event)}</span>
      {tokens && (
        <span className="meta">
          ↑{shownCount(tokens.input)} ↓{shownCount(tokens.output)}
        </span>
      )}
    </>
  );
}

function summaryOf({ content, actions, errorMessage, errorCode }: Event): string {
  if (errorMessage !== undefined || errorCode !== undefined) return `${errorCode ?? ''} ${errorMessage ?? ''}`;
  const texts = (content?.parts ?? []).map(({ text, functionCall, functionResponse, inlineData }) => {
    if (functionCall) return `${functionCall.name}(${JSON.stringify(functionCall.args ?? {})})`;
    if (functionResponse) return `${functionResponse.name} → ${JSON.stringify(functionResponse.response)}`;
    return text ?? inlineData?.mimeType ?? '';
  });
  if (actions.transferToAgent !== undefined) texts.push(`→ ${actions.transferToAgent}`);
  const keys = Object.keys(actions.stateDelta);
  if (texts.length === 0 && keys.length > 0) texts.push(`set ${keys.join(', ')}`);
  return texts.join(' ').slice(0, longest);
}
