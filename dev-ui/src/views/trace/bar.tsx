import { shownCount, shownDuration } from '../../parts/numbers.ts';
import type { Span } from './spans.ts';
import type { Range, Timeline } from './timeline.ts';

interface BarProps {
  readonly span: Span;
  readonly range: Range;
  readonly line: Timeline;
  readonly now: number;
}

/** Beyond this share of the lane the label is before the bar, because there is no room behind it. */
const wordsBefore = 0.6;

/** The bar of one span, with its duration and tokens. */
export function Bar({ span, range, line, now }: BarProps) {
  const { kind, traceId, start, end, error } = span;
  const size = range.to - range.from;
  const from = (line.place(traceId, start) - range.from) / size;
  const to = (line.place(traceId, end ?? now) - range.from) / size;
  if (to < 0 || from > 1) return null;
  const left = Math.max(0, from);
  const right = Math.min(1, to);
  const words = wordsOf(span, now);
  const isLate = right > wordsBefore;
  return (
    <>
      <span
        className={`span-bar ${kind}${error === undefined ? '' : ' failed'}${end === undefined ? ' open' : ''}`}
        style={{ left: `${left * 100}%`, width: `max(2px, ${(right - left) * 100}%)` }}
      />
      <span
        className="span-words"
        style={
          isLate
            ? { right: `calc(${(1 - left) * 100}% + 6px)`, justifyContent: 'flex-end' }
            : { left: `calc(${right * 100}% + 6px)` }
        }
      >
        {words}
      </span>
    </>
  );
}

function wordsOf({ start, end, model, tokens, error }: Span, now: number): string {
  const words = [end === undefined ? `${shownDuration(now - start)} …` : shownDuration(end - start)];
  if (model !== undefined) words.push(model);
  if (tokens) words.push(`${shownCount(tokens.input)} → ${shownCount(tokens.output)}`);
  if (error !== undefined) words.push('failed');
  return words.join(' · ');
}
