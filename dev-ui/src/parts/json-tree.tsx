import { useVirtualizer } from '@tanstack/react-virtual';
import { ChevronDown, ChevronRight, Copy, Maximize2 } from 'lucide-react';
import { type KeyboardEvent, useMemo, useRef, useState } from 'react';
import { copyText } from './clipboard.ts';
import { Dialog } from './dialog.tsx';
import { previewOf, type TreeRow, treeRows } from './tree-rows.ts';

interface JsonTreeProps {
  readonly value: unknown;
  readonly label: string;
  /** Levels that are expanded at first. Default 1. */
  readonly openTo?: number;
  /** Largest height in pixels before it scrolls. Default 480. */
  readonly most?: number;
}

const rowHeight = 22;
/** A list with more entries than this is closed at first. */
const mostOpenAtFirst = 100;
/** A longer string opens in a dialog. */
const longString = 80;

/** JSON as a virtual tree, fast also for a megabyte: ←/→ collapse and expand, ↑/↓ move, Enter shows all, c copies. */
export function JsonTree({ value, label, openTo = 1, most = 480 }: JsonTreeProps) {
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const [current, setCurrent] = useState(0);
  const [shown, setShown] = useState<TreeRow>();
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => {
    const isSmall = (child: unknown): boolean => Object.keys(child ?? {}).length <= mostOpenAtFirst;
    return treeRows(value, (path, depth) => toggled.has(path) !== (depth < openTo && isSmall(value)));
  }, [value, toggled, openTo]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 10,
  });
  const isOpen = (index: number): boolean => (rows[index + 1]?.depth ?? 0) > (rows[index]?.depth ?? 0);
  const toggle = ({ path }: TreeRow): void => {
    const next = new Set(toggled);
    if (!next.delete(path)) next.add(path);
    setToggled(next);
  };
  const move = (index: number): void => {
    const at = Math.max(0, Math.min(rows.length - 1, index));
    setCurrent(at);
    virtual.scrollToIndex(at);
    requestAnimationFrame(() => scroller.current?.querySelector<HTMLElement>(`[data-row="${at}"]`)?.focus());
  };
  const parentOf = (index: number): number => {
    const depth = rows[index]?.depth ?? 0;
    let at = index;
    while (at > 0 && (rows[at]?.depth ?? 0) >= depth) at -= 1;
    return at;
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const row = rows[current];
    if (!row || event.metaKey || event.ctrlKey || event.altKey) return;
    const canOpen = (row.count ?? 0) > 0;
    const fold = (): void => toggle(row);
    const go = (index: number) => (): void => move(index);
    const show = (): void => (canOpen ? toggle(row) : setShown(row));
    const actions: Readonly<Record<string, () => unknown>> = {
      ArrowDown: go(current + 1),
      ArrowUp: go(current - 1),
      Home: go(0),
      End: go(rows.length - 1),
      ArrowRight: canOpen && !isOpen(current) ? fold : go(current + 1),
      ArrowLeft: isOpen(current) ? fold : go(parentOf(current)),
      Enter: show,
      ' ': show,
      c: () => copyText(textOf(row.value)),
    };
    const action = actions[event.key];
    if (!action) return;
    action();
    event.preventDefault();
    event.stopPropagation();
  };
  if (rows.length === 0) return <code className="tree-leaf">{previewOf(value)}</code>;
  const height = Math.min(most, rows.length * rowHeight + 2);
  return (
    <>
      <div ref={scroller} className="tree" style={{ height }}>
        <div role="tree" aria-label={label} className="virtual-inner" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const row = rows[index];
            if (!row) return null;
            const open = isOpen(index);
            return (
              <div
                key={row.path}
                role="treeitem"
                aria-level={row.depth + 1}
                aria-posinset={row.position}
                aria-setsize={row.siblings}
                aria-expanded={row.count ? open : undefined}
                aria-label={`${row.name}: ${previewOf(row.value)}`}
                aria-selected={index === current}
                tabIndex={index === Math.min(current, rows.length - 1) ? 0 : -1}
                data-row={index}
                className="virtual-item tree-row"
                style={{ transform: `translateY(${start}px)`, paddingLeft: row.depth * 14 }}
                onFocus={() => setCurrent(index)}
                onKeyDown={onKeyDown}
                onClick={() => row.count && toggle(row)}
              >
                <span className="tree-mark" aria-hidden>
                  {row.count ? open ? <ChevronDown size={12} /> : <ChevronRight size={12} /> : null}
                </span>
                <span className="tree-name">{row.name}: </span>
                <span className={`tree-value ${typeof row.value}`}>{previewOf(row.value)}</span>
                <span className="tree-actions" aria-hidden>
                  {typeof row.value === 'string' && row.value.length > longString && (
                    <Maximize2 size={12} onClick={() => setShown(row)} />
                  )}
                  <Copy
                    size={12}
                    onClick={(event) => {
                      event.stopPropagation();
                      void copyText(textOf(row.value));
                    }}
                  />
                </span>
              </div>
            );
          })}
        </div>
      </div>
      {shown && (
        <Dialog title={shown.path} wide onClose={() => setShown(undefined)}>
          <pre className="plain value-full" tabIndex={0}>
            {textOf(shown.value)}
          </pre>
          <div className="row end">
            <button type="button" className="button" onClick={() => void copyText(textOf(shown.value))}>
              Copy
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, undefined, 2) ?? String(value));
