import { type PointerEvent, useRef, useState } from 'react';
import { shownDuration } from '../../parts/numbers.ts';
import { marksOf, type Range } from './timeline.ts';

interface RulerProps {
  readonly range: Range;
  readonly cuts: readonly number[];
  readonly onChoose: (range: Range) => void;
}

const leastDrag = 0.01;
const lastMark = 0.95;

/** The time axis. Dragging over it selects a range. */
export function Ruler({ range, cuts, onChoose }: RulerProps) {
  const lane = useRef<HTMLDivElement>(null);
  const [drag, setDrag] = useState<{ from: number; to: number }>();
  const size = range.to - range.from;
  const share = (place: number): number => (place - range.from) / size;
  const at = (event: PointerEvent): number => {
    const box = lane.current?.getBoundingClientRect();
    return box ? Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) : 0;
  };
  const onPointerDown = (event: PointerEvent<HTMLDivElement>): void => {
    event.currentTarget.setPointerCapture(event.pointerId);
    setDrag({ from: at(event), to: at(event) });
  };
  const onPointerUp = (): void => {
    setDrag(undefined);
    if (!drag || Math.abs(drag.to - drag.from) < leastDrag) return;
    const [first, last] = drag.from < drag.to ? [drag.from, drag.to] : [drag.to, drag.from];
    onChoose({ from: range.from + first * size, to: range.from + last * size });
  };
  const marks = marksOf(range).filter((mark) => share(mark) < lastMark); // a later label would be cut
  return (
    <div className="ruler" aria-hidden>
      <div className="span-name" />
      <div
        ref={lane}
        className="span-lane"
        onPointerDown={onPointerDown}
        onPointerMove={(event) => drag && setDrag({ ...drag, to: at(event) })}
        onPointerUp={onPointerUp}
      >
        {marks.map((mark) => (
          <span key={mark} className="ruler-mark" style={{ left: `${share(mark) * 100}%` }}>
            {mark === 0 ? '0' : mark < 1 ? `${Number(mark.toPrecision(2))} ms` : shownDuration(mark)}
          </span>
        ))}
        {cuts
          .filter((cut) => cut >= range.from && cut <= range.to)
          .map((cut) => (
            <span
              key={cut}
              className="ruler-cut"
              title="An idle period is shortened here"
              style={{ left: `${share(cut) * 100}%` }}
            >
              //
            </span>
          ))}
        {drag && (
          <span
            className="ruler-drag"
            style={{
              left: `${Math.min(drag.from, drag.to) * 100}%`,
              width: `${Math.abs(drag.to - drag.from) * 100}%`,
            }}
          />
        )}
      </div>
    </div>
  );
}
