import { type MouseEvent, useEffect, useRef } from 'react';
import type { Workspace } from '../../app/workspace.ts';
import type { Row } from '../../log/rows.ts';

interface MinimapProps {
  readonly workspace: Workspace;
  readonly rows: readonly Row[];
  readonly onJump: (index: number) => void;
}

/** A shorter conversation fits on a screen or two and needs no minimap. */
const fewest = 30;

const tokenOf: Readonly<Record<Row['kind'], string>> = {
  user: '--accent',
  text: '--control',
  call: '--tool',
  fold: '--tool',
  request: '--state',
  transfer: '--transfer',
  error: '--error',
  note: '--hairline',
};
/** Kinds that are drawn last and wider, to be noticed. */
const loud = new Set<string>(['error', 'request']);

const isLoud = (row: Row): boolean => loud.has(row.kind) || (row.kind === 'call' && row.status === 'error');

/** One tick for each row, in the colour of its kind. A click goes there. */
export function Minimap({ rows, onJump }: MinimapProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const frame = useRef(0);
  const isShown = rows.length >= fewest;
  useEffect(() => {
    if (!isShown) return undefined;
    frame.current = requestAnimationFrame(() => canvas.current && draw(canvas.current, rows));
    return () => cancelAnimationFrame(frame.current);
  });
  if (!isShown) return null;
  const onClick = (event: MouseEvent<HTMLCanvasElement>): void => {
    const { top, height } = event.currentTarget.getBoundingClientRect();
    onJump(Math.floor(((event.clientY - top) / height) * rows.length));
  };
  return <canvas ref={canvas} className="minimap" aria-hidden onClick={onClick} />;
}

function draw(canvas: HTMLCanvasElement, rows: readonly Row[]): void {
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext('2d');
  if (!context) return;
  const style = getComputedStyle(canvas);
  const colours = new Map<string, string>();
  const colourOf = (token: string): string => {
    const known = colours.get(token) ?? resolve(canvas, style, token);
    colours.set(token, known);
    return known;
  };
  const tick = Math.max(1, Math.min(4, height / rows.length));
  const paint = (row: Row, index: number): void => {
    const wide = isLoud(row);
    context.fillStyle = colourOf(row.kind === 'call' && row.status === 'error' ? '--error' : tokenOf[row.kind]);
    context.fillRect(
      wide ? 0 : 3,
      (index / rows.length) * height,
      wide ? width : width - 6,
      wide ? Math.max(2, tick) : tick,
    );
  };
  for (const [index, row] of rows.entries()) if (!isLoud(row)) paint(row, index);
  for (const [index, row] of rows.entries()) if (isLoud(row)) paint(row, index);
}

/** A token as the colour it has in the theme: canvases do not know `light-dark()`. */
function resolve(canvas: HTMLCanvasElement, style: CSSStyleDeclaration, token: string): string {
  canvas.style.color = `var(${token})`;
  const { color } = style;
  canvas.style.color = '';
  return color;
}
