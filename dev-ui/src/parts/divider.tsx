import type { KeyboardEvent, PointerEvent } from 'react';

interface DividerProps {
  readonly label: string;
  /** Pixels of the panel it belongs to. */
  readonly value: number;
  readonly range: readonly [number, number];
  /** Whether the panel is to the right of it. */
  readonly reversed?: boolean;
  readonly onChange: (value: number) => void;
}

const step = 16;

/** Changes the width of a panel by dragging or with the arrow keys. */
export function Divider({ label, value, range: [least, most], reversed = false, onChange }: DividerProps) {
  const change = (pixels: number): void => {
    onChange(Math.round(Math.max(least, Math.min(most, value + (reversed ? -pixels : pixels)))));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
    event.preventDefault();
    change(event.key === 'ArrowLeft' ? -step : step);
  };
  const onPointerDown = (event: PointerEvent<HTMLDivElement>): void => {
    const element = event.currentTarget;
    const from = event.clientX;
    element.setPointerCapture(event.pointerId);
    const onMove = (move: globalThis.PointerEvent): void => change(move.clientX - from);
    element.addEventListener('pointermove', onMove);
    element.addEventListener('lostpointercapture', () => element.removeEventListener('pointermove', onMove), {
      once: true,
    });
  };
  return (
    <div
      className="divider"
      role="separator"
      aria-orientation="vertical"
      aria-label={label}
      aria-valuenow={value}
      aria-valuemin={least}
      aria-valuemax={most}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onPointerDown={onPointerDown}
    />
  );
}
