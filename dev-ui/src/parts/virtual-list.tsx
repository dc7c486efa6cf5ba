import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useRef } from 'react';

interface VirtualListProps<T> {
  readonly items: readonly T[];
  readonly keyOf: (item: T, index: number) => string;
  readonly render: (item: T, index: number) => ReactNode;
  /** Pixels of an item; with `measured` a first guess. */
  readonly height: number;
  readonly label: string;
  readonly className?: string;
  /** Items have different heights. */
  readonly measured?: boolean;
  /** Its items take no focus, so the list does, to be scrollable with the keyboard. */
  readonly focusable?: boolean;
}

/** A list that renders only its visible items. */
export function VirtualList<T>({
  items,
  keyOf,
  render,
  height,
  label,
  className = '',
  measured,
  focusable,
}: VirtualListProps<T>) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    getItemKey: (index) => keyOf(items[index] as T, index),
    overscan: 8,
  });
  return (
    <div ref={scroller} className={`virtual ${className}`} tabIndex={focusable ? 0 : -1}>
      <div role="list" aria-label={label} className="virtual-inner" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, key, start, size }) => (
          <div
            key={key}
            role="listitem"
            aria-setsize={items.length}
            aria-posinset={index + 1}
            data-index={index}
            ref={measured ? virtual.measureElement : undefined}
            className="virtual-item"
            style={{ transform: `translateY(${start}px)`, ...(measured ? {} : { height: size }) }}
          >
            {render(items[index] as T, index)}
          </div>
        ))}
      </div>
    </div>
  );
}
