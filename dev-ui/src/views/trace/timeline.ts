import type { Span } from './spans.ts';

/** Longest pause between two runs that is drawn to scale; users pause longer than agents work. */
const longestGapMs = 500;

/** A part of the timeline, in milliseconds from its beginning. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** Places runs on a common time line, one after the other, with long pauses shortened. */
export interface Timeline {
  readonly length: number;
  /** Maps a time to its position on the line. */
  place(traceId: string, time: number): number;
  /** Positions of shortened pauses, for a mark. */
  readonly cuts: readonly number[];
}

export function timelineOf(roots: readonly Span[], now: number): Timeline {
  const offsets = new Map<string, number>();
  const cuts: number[] = [];
  let end = 0; // of what stands on the line so far, in real time and on the line
  let endPlace = 0;
  for (const [index, root] of roots.entries()) {
    const rootEnd = root.end ?? now;
    if (index > 0 && root.start - end > longestGapMs) {
      cuts.push(endPlace + longestGapMs / 2);
      offsets.set(root.traceId, endPlace + longestGapMs - root.start);
    } else if (!offsets.has(root.traceId)) {
      offsets.set(root.traceId, index === 0 ? -root.start : endPlace - end);
    }
    const offset = offsets.get(root.traceId) ?? 0;
    if (rootEnd > end) {
      end = rootEnd;
      endPlace = rootEnd + offset;
    }
  }
  const length = Math.max(endPlace, 1);
  return { length, cuts, place: (traceId, time) => time + (offsets.get(traceId) ?? 0) };
}

const steps = [1, 2, 5];

/** Round positions for the marks of a ruler, about `count` of them. */
export function marksOf({ from, to }: Range, count = 6): number[] {
  const rough = (to - from) / count;
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1e-3)));
  const step = (steps.find((one) => one * power >= rough) ?? 10) * power;
  const marks: number[] = [];
  for (let mark = Math.ceil(from / step) * step; mark <= to; mark += step) marks.push(mark);
  return marks;
}

/** The range zoomed in (factor below 1) or out around a point, within the line. */
export function zoomed(range: Range, factor: number, around: number, length: number): Range {
  const size = Math.min(length, Math.max(0.05, (range.to - range.from) * factor));
  const share = (around - range.from) / Math.max(range.to - range.from, 1e-9);
  return shifted({ from: around - share * size, to: around + (1 - share) * size }, 0, length);
}

/** The range moved along the line, as far as it goes. */
export function shifted({ from, to }: Range, by: number, length: number): Range {
  const size = Math.min(to - from, length);
  const start = Math.min(Math.max(0, from + by), length - size);
  return { from: start, to: start + size };
}
