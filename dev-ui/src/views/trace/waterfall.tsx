import { useVirtualizer } from '@tanstack/react-virtual';
import { ChevronDown, ChevronRight, type LucideIcon, Maximize2, Route, ZoomIn, ZoomOut } from 'lucide-react';
import { type KeyboardEvent, useEffect, useMemo, useRef, useState, type WheelEvent } from 'react';
import { shownDuration } from '../../parts/numbers.ts';
import { Bar } from './bar.tsx';
import { Ruler } from './ruler.tsx';
import { criticalPath, rowsOf, type Span, type SpanRow, treeOf } from './spans.ts';
import { type Range, shifted, timelineOf, zoomed } from './timeline.ts';
import './trace.css';

const rowHeight = 28;
const zoomStep = 0.6;

type Zoom = 'in' | 'out' | 'all';
const tools: readonly { label: string; key: string; icon: LucideIcon; act: Zoom }[] = [
  { label: 'Zoom in', key: '+', icon: ZoomIn, act: 'in' },
  { label: 'Zoom out', key: '-', icon: ZoomOut, act: 'out' },
  { label: 'Show all', key: '0', icon: Maximize2, act: 'all' },
];

interface WaterfallProps {
  readonly spans: ReadonlyMap<string, Span>;
  /** Changes with the spans, which are one object. */
  readonly version: number;
  readonly selected: string | undefined;
  readonly onSelect: (span: Span) => void;
  /** The title of a run; absent: its label. */
  readonly titleOf?: (span: Span) => string | undefined;
}

/** Spans as bars on a common time line, nested by calls: a tree for keyboards and screen readers. */
export function Waterfall({ spans, version, selected, onSelect, titleOf }: WaterfallProps) {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const [chosen, setRange] = useState<Range>();
  const [showPath, setShowPath] = useState(false);
  const [focused, setFocused] = useState(0);
  const scroller = useRef<HTMLDivElement>(null);
  const { tree, now, line } = useMemo(() => {
    const made = treeOf(spans.values());
    const time = latest(spans.values());
    return { tree: made, now: time, line: timelineOf(made.roots, time) };
    // `version` stands for what is in `spans`
  }, [spans, version]);
  const rows = useMemo(() => rowsOf(tree, folded, criticalPath(tree, now)), [tree, now, folded]);
  const range = chosen ?? { from: 0, to: line.length };
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => rows[index]?.span.id ?? index,
    overscan: 10,
  });
  useEffect(() => {
    const at = rows.findIndex(({ span }) => span.id === selected);
    if (at < 0) return;
    setFocused(at);
    virtual.scrollToIndex(at, { align: 'auto' });
    // only when the selection changes: an active run must not scroll the view
  }, [selected]);

  const fold = (id: string, isFolded: boolean): void => {
    const next = new Set(folded);
    if (isFolded) next.add(id);
    else next.delete(id);
    setFolded(next);
  };
  const go = (at: number): void => {
    const index = Math.min(Math.max(0, at), rows.length - 1);
    setFocused(index);
    virtual.scrollToIndex(index, { align: 'auto' });
    requestAnimationFrame(() => scroller.current?.querySelector<HTMLElement>(`[data-index="${index}"]`)?.focus());
  };
  const zoom = (factor: number, around = (range.from + range.to) / 2): void => {
    setRange(zoomed(range, factor, around, line.length));
  };
  const apply = (act: Zoom): void => {
    if (act === 'all') setRange(undefined);
    else zoom(act === 'in' ? zoomStep : 1 / zoomStep);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const row = rows[focused];
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = keyAction(event.key, row);
    if (act === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    if (act === 'open') fold(row.span.id, false);
    else if (act === 'fold') fold(row.span.id, true);
    else if (act === 'select') onSelect(row.span);
    else if (act === 'parent') go(rows.findLastIndex(({ depth }, index) => index < focused && depth < row.depth));
    else if (act === 'in' || act === 'out' || act === 'all') apply(act);
    else go(act === 'first' ? 0 : act === 'last' ? rows.length - 1 : focused + act);
  };
  const onWheel = (event: WheelEvent<HTMLDivElement>): void => {
    const lane = event.currentTarget.querySelector('.span-lane')?.getBoundingClientRect();
    if (!lane) return;
    const perPixel = (range.to - range.from) / lane.width;
    if (event.ctrlKey || event.metaKey) {
      zoom(event.deltaY < 0 ? zoomStep : 1 / zoomStep, range.from + (event.clientX - lane.left) * perPixel);
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      setRange(shifted(range, (event.deltaX || event.deltaY) * perPixel, line.length));
    }
  };

  return (
    <div className="waterfall">
      <div className="waterfall-bar row">
        <span className="meta">
          {spans.size} spans · {tree.roots.length} {tree.roots.length === 1 ? 'run' : 'runs'} ·{' '}
          {shownDuration(line.length)}
        </span>
        <span className="grow" />
        <button
          type="button"
          className="button small"
          aria-pressed={showPath}
          onClick={() => setShowPath(!showPath)}
          title="Shows the spans that determined the duration"
        >
          <Route size={14} aria-hidden /> Critical path
        </button>
        {tools.map(({ label, key, icon: Icon, act }) => (
          <button
            key={key}
            type="button"
            className="icon-button"
            aria-label={label}
            title={`${label} (${key})`}
            onClick={() => apply(act)}
          >
            <Icon size={16} aria-hidden />
          </button>
        ))}
      </div>
      <Ruler range={range} cuts={line.cuts} onChoose={setRange} />
      <div ref={scroller} className="waterfall-rows" onWheel={onWheel}>
        <div
          role="tree"
          aria-label="Spans"
          className={`virtual-inner${showPath ? ' with-path' : ''}`}
          style={{ height: virtual.getTotalSize() }}
          onKeyDown={onKeyDown}
        >
          {virtual.getVirtualItems().map(({ index, start }) => {
            const row = rows[index];
            if (!row) return null;
            const { span, depth, children, isFolded } = row;
            return (
              <div
                key={span.id}
                role="treeitem"
                data-index={index}
                data-span={span.id}
                aria-level={depth + 1}
                aria-selected={span.id === selected}
                aria-expanded={children > 0 ? !isFolded : undefined}
                tabIndex={index === Math.min(focused, rows.length - 1) ? 0 : -1}
                className={`span-row${row.onCriticalPath ? ' critical' : ''}`}
                style={{ transform: `translateY(${start}px)` }}
                onFocus={() => setFocused(index)}
                onClick={() => onSelect(span)}
              >
                <span className="span-name" style={{ paddingLeft: 8 + Math.min(depth, 12) * 14 }}>
                  {children > 0 ? (
                    <span
                      className="span-fold"
                      onClick={(event) => {
                        event.stopPropagation();
                        fold(span.id, !isFolded);
                      }}
                    >
                      {isFolded ? <ChevronRight size={14} aria-hidden /> : <ChevronDown size={14} aria-hidden />}
                    </span>
                  ) : (
                    <span className="span-fold" />
                  )}
                  <span className={`span-kind ${span.kind}`}>{span.kind}</span>
                  <span className="truncate">{(span.kind === 'run' && titleOf?.(span)) || span.label}</span>
                  {isFolded && <span className="meta">+{children}</span>}
                </span>
                <span className="span-lane">
                  <Bar span={span} range={range} line={line} now={now} />
                </span>
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

type KeyAction = Zoom | 'open' | 'fold' | 'parent' | 'select' | 'first' | 'last' | 1 | -1;

const keyActions: Readonly<Record<string, KeyAction>> = {
  ArrowDown: 1,
  j: 1,
  ArrowUp: -1,
  k: -1,
  Enter: 'select',
  ' ': 'select',
  Home: 'first',
  End: 'last',
  ...Object.fromEntries(tools.map(({ key, act }) => [key, act])),
};

function keyAction(key: string, { children, isFolded }: SpanRow): KeyAction | undefined {
  if (key === 'ArrowRight') return children > 0 && isFolded ? 'open' : 1;
  if (key === 'ArrowLeft') return children > 0 && !isFolded ? 'fold' : 'parent';
  return keyActions[key];
}

/** The latest time any span knows: where spans that are still open end for now. */
function latest(spans: Iterable<Span>): number {
  let time = 0;
  let hasOpen = false;
  for (const { start, end } of spans) {
    hasOpen ||= end === undefined;
    time = Math.max(time, end ?? start);
  }
  return hasOpen ? Math.max(time, Date.now()) : time;
}
