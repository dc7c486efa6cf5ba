import { useVirtualizer } from '@tanstack/react-virtual';
import { type Ref, useEffect, useImperativeHandle, useRef } from 'react';
import type { Line } from './align.ts';
import { EventView } from './event-view.tsx';

export interface LinesHandle {
  show(index: number): void;
}

interface LinesProps {
  readonly ref: Ref<LinesHandle>;
  readonly lines: readonly Line[];
  /** The line to begin at. */
  readonly start: number;
  readonly onOpen: (from: number) => void;
}

const guessedHeight = 72;

/** Both histories, line by line; only visible lines are rendered. */
export function Lines({ ref, lines, start, onOpen }: LinesProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => guessedHeight,
    overscan: 6,
  });
  useImperativeHandle(ref, () => ({ show: (index) => virtual.scrollToIndex(index, { align: 'start' }) }), [virtual]);
  useEffect(() => {
    if (start > 0) virtual.scrollToIndex(start, { align: 'center' });
    // only at first: later the user scrolls
  }, []);
  return (
    <div ref={scroller} className="compare-lines" tabIndex={0} role="region" aria-label="Both histories">
      <div className="virtual-inner" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, key, start: top }) => {
          const line = lines[index];
          if (!line) return null;
          return (
            <div
              key={key}
              data-index={index}
              ref={virtual.measureElement}
              className="virtual-item"
              style={{ transform: `translateY(${top}px)` }}
            >
              {line.kind === 'fold' ? (
                <button type="button" className="compare-fold" onClick={() => onOpen(line.from)}>
                  {line.count} events are the same
                </button>
              ) : (
                <div className="compare-line" data-first={line.isFirst}>
                  {line.isFirst && <p className="compare-part">First difference</p>}
                  <EventView event={line.pair.left} other={line.pair.right} side="left" isSame={line.pair.isSame} />
                  <EventView event={line.pair.right} other={line.pair.left} side="right" isSame={line.pair.isSame} />
                </div>
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}
