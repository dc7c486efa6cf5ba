import { useVirtualizer, type VirtualItem } from '@tanstack/react-virtual';
import { ArrowDown } from 'lucide-react';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { runOptions } from '../../app/composer/run-options.tsx';
import { useLogVersion } from '../../app/current.ts';
import { setQuery, useLocation } from '../../app/location.ts';
import { useMoves } from '../../app/moves.ts';
import { useReloads } from '../../app/reloads.ts';
import { Starters } from '../../app/starters.tsx';
import type { Workspace } from '../../app/workspace.ts';
import type { EventLog } from '../../log/event-log.ts';
import { fits, parseFilter } from '../../log/filter.ts';
import type { Row } from '../../log/rows.ts';
import type { Turn } from '../../log/turns.ts';
import { Empty, Failure } from '../../parts/states.tsx';
import { Minimap } from './minimap.tsx';
import { ReloadLine, RowView } from './row-view.tsx';
import { SpeechView } from './speech-view.tsx';

const guessedHeight = 56;
/** Within so many pixels of the end the view counts as being at the end. */
const nearEnd = 48;

/** The rows that match the filter in the address. */
function useRows(workspace: Workspace): readonly Row[] {
  const version = useLogVersion(workspace);
  const text = useLocation().query.get('q') ?? '';
  return useMemo(() => {
    void version; // the log is the same object, whatever is added to it
    const { rows } = workspace.log;
    const filter = parseFilter(text);
    return text === '' ? rows : rows.filter((row) => fits(row, filter));
  }, [workspace, version, text]);
}

/** The turn that ends with a row, once it is over. */
function turnEnding({ turns }: EventLog, row: Row, next: Row | undefined, running: boolean): Turn | undefined {
  if (row.kind === 'user' || row.kind === 'note' || (next === undefined && running)) return undefined;
  return next?.event.invocationId === row.event.invocationId ? undefined : turns.get(row.event.invocationId);
}

/** The conversation: only visible rows are rendered, and its end stays in view while it grows. */
export function Stream({ workspace }: { readonly workspace: Workspace }) {
  const { log, run } = workspace;
  const rows = useRows(workspace);
  const reloads = useReloads(workspace.key.appName);
  const { query } = useLocation();
  const selected = query.get('e');
  const running = run.status === 'running';
  const scroller = useRef<HTMLDivElement>(null);
  const [atEnd, setAtEnd] = useState(selected === null);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const seen = useRef(rows.length);
  const onToggle = useCallback((key: string) => {
    setOpened((before) => {
      const after = new Set(before);
      if (!after.delete(key)) after.add(key);
      return after;
    });
  }, []);
  const onSelect = useCallback((eventId: string) => setQuery({ e: eventId }), []);
  const virtual = useVirtualizer({
    count: rows.length + 1,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (index === rows.length ? 24 : guessedHeight),
    getItemKey: (index) => rows[index]?.key ?? 'end',
    overscan: 4,
  });
  const total = virtual.getTotalSize();
  const { speeches } = log;
  const isFiltered = query.has('q');
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element && atEnd) element.scrollTop = element.scrollHeight;
  }, [atEnd, total, speeches, rows]);
  useEffect(() => {
    if (atEnd) seen.current = rows.length;
  });
  const selectedRow = useMemo(() => {
    if (selected === null) return -1;
    const row = log.rows[log.rowOf(selected) ?? -1];
    return row ? rows.indexOf(row) : -1;
  }, [selected, rows, log]);
  const jumped = useRef<string>(undefined);
  useLayoutEffect(() => {
    if (selected === null || selectedRow < 0 || jumped.current === selected) return undefined;
    jumped.current = selected;
    setAtEnd(false);
    const inView = virtual.getVirtualItems().some(({ index }) => index === selectedRow);
    virtual.scrollToIndex(selectedRow, { align: inView ? 'auto' : 'center' });
    const frame = requestAnimationFrame(() => setAtEnd(isAtEnd(scroller.current)));
    return () => cancelAnimationFrame(frame);
  }, [selected, selectedRow, virtual]);
  useMoves({
    ids: (index) => rows[index]?.event.id,
    count: rows.length,
    current: selectedRow,
    beginsTurn: (index) => rows[index]?.kind === 'user',
    scroller,
  });
  const anchor = useRef<string>(undefined);
  const onScroll = (): void => {
    setAtEnd(isAtEnd(scroller.current));
    anchor.current = virtual
      .getVirtualItems()
      .find(({ end }) => end > (virtual.scrollOffset ?? 0))
      ?.key.toString();
  };
  // When earlier events are prepended, the rows in view stay in view.
  useLayoutEffect(() => {
    const row = rows.findIndex(({ key }) => key === anchor.current);
    if (row > 0 && !isAtEnd(scroller.current)) virtual.scrollToIndex(row, { align: 'start' });
  }, [log.generation]);
  const newest = rows.at(-1)?.event.timestamp;
  const reloadedSince = newest === undefined ? undefined : reloadBetween(reloads, newest, Infinity);
  const news = rows.length - seen.current;
  const items = virtual.getVirtualItems();
  const end = items.at(-1);
  const placed = ({ index, start }: VirtualItem) => ({
    'data-index': index,
    ref: virtual.measureElement,
    className: 'virtual-item',
    style: { transform: `translateY(${start}px)` },
  });
  return (
    <>
      {isFiltered && rows.length > 0 && <Matches count={rows.length} of={log.rows.length} current={selectedRow} />}
      <div className="stream-place">
        <div ref={scroller} className="stream" onScroll={onScroll}>
          {rows.length === 0 && !running && <NoRows workspace={workspace} />}
          <div className="virtual-inner" style={{ height: total }}>
            <div
              {...(rows.length > 0 && { role: 'feed', 'aria-label': 'Conversation', 'aria-busy': running })}
              style={{ height: '100%' }}
            >
              {items.map((item) => {
                const { index } = item;
                const row = rows[index];
                const before = rows[index - 1];
                return (
                  row && (
                    <div key={item.key} {...placed(item)}>
                      <RowView
                        row={row}
                        workspace={workspace}
                        selected={index === selectedRow}
                        tabStop={index === (selectedRow < 0 ? rows.length - 1 : selectedRow)}
                        sameAuthor={
                          before?.event.author === row.event.author && row.kind !== 'user' && before.kind !== 'transfer'
                        }
                        rewound={log.isRewound(row.index)}
                        reloadedAt={before && reloadBetween(reloads, before.event.timestamp, row.event.timestamp)}
                        turn={isFiltered ? undefined : turnEnding(log, row, rows[index + 1], running)}
                        position={index + 1}
                        size={rows.length}
                        opened={opened}
                        onToggle={onToggle}
                        onSelect={onSelect}
                        running={running}
                      />
                    </div>
                  )
                );
              })}
            </div>
            {end?.index === rows.length && (
              <div key={end.key} {...placed(end)}>
                {reloadedSince !== undefined && !running && <ReloadLine at={reloadedSince} />}
                {speeches.map((speech) => (
                  <SpeechView key={`${speech.author}/${speech.branch}`} speech={speech} />
                ))}
                {running && speeches.length === 0 && (
                  <p className="working meta">{run.reconnecting ? 'Connection lost, reconnecting …' : 'Running …'}</p>
                )}
                <RunEnd workspace={workspace} />
              </div>
            )}
          </div>
        </div>
        <Minimap
          workspace={workspace}
          rows={rows}
          onJump={(index) => virtual.scrollToIndex(index, { align: 'center' })}
        />
        {!atEnd && rows.length > 0 && (
          <button type="button" className="button small to-end" onClick={() => setAtEnd(true)}>
            <ArrowDown size={14} aria-hidden /> {news > 0 ? `${news} new` : 'Jump to end'}
          </button>
        )}
      </div>
    </>
  );
}

/** The last reload between two events. */
const reloadBetween = (reloads: readonly number[], from: number, to: number): number | undefined =>
  reloads.findLast((at) => at > from && at <= to);

const isAtEnd = (element: HTMLElement | null): boolean =>
  element === null || element.scrollHeight - element.scrollTop - element.clientHeight < nearEnd;

/** How many rows match the filter, and the keys that go through them. */
function Matches({ count, of, current }: { count: number; of: number; current: number }) {
  return (
    <p className="matches meta" role="status">
      {current >= 0 ? `Match ${current + 1} of ${count}` : `${count} of ${of} match the filter`} · <kbd>n</kbd> next ·{' '}
      <kbd>Shift n</kbd> previous
    </p>
  );
}

function NoRows({ workspace }: { workspace: Workspace }) {
  const { key, log } = workspace;
  if (log.rows.length === 0) {
    const say = (text: string): void => void workspace.send({ role: 'user', parts: [{ text }] }, runOptions()); // failures show in the stream
    return (
      <Empty title="No messages yet">
        Write the first message below, or try one of these:
        <Starters app={key.appName} disabled={false} onSay={say} />
      </Empty>
    );
  }
  return (
    <Empty title="No events match the filter">
      <button type="button" className="button small" onClick={() => setQuery({ q: undefined })}>
        Clear filter
      </button>
    </Empty>
  );
}

/** How the last run ended, when it failed or was stopped. */
function RunEnd({ workspace }: { readonly workspace: Workspace }) {
  const { run } = workspace;
  if (run.status === 'stopped') {
    return (
      <p className="run-end meta" role="status">
        Stopped after {run.events} {run.events === 1 ? 'event' : 'events'}.
      </p>
    );
  }
  if (run.status !== 'failed') return null;
  return (
    <div className="run-end">
      <Failure error={run.error} {...(workspace.canRetry && { onRetry: () => void workspace.retry() })} />
    </div>
  );
}
