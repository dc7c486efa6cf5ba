import { diffWordsWithSpace } from 'diff';
import { memo } from 'react';
import { Author } from '../../parts/author.tsx';
import { shownTime } from '../../parts/numbers.ts';
import type { ComparedEvent } from './compared-event.ts';

interface EventViewProps {
  readonly event: ComparedEvent | undefined;
  /** The event on the other side, to mark what is different. */
  readonly other: ComparedEvent | undefined;
  readonly side: 'left' | 'right';
  readonly isSame: boolean;
}

/** Longer texts are not compared word by word. */
const longest = 4_000;
const mostShown = 6_000;

/** One side of a line. */
export const EventView = memo(function EventView({ event, other, side, isSame }: EventViewProps) {
  if (!event) {
    return (
      <div className="step none">
        <span className="visually-hidden">Nothing on this side</span>
      </div>
    );
  }
  return (
    <div className={`step ${isSame ? 'same' : 'different'}`}>
      <div className="row">
        <Author name={event.author} />
        <span className="meta">{shownTime(event.event.timestamp)}</span>
        {!isSame && <span className="badge step-badge">{other ? 'different' : 'only here'}</span>}
      </div>
      <p className="step-text" dir="auto">
        {isSame || !other || event.text.length + other.text.length > longest ? (
          event.text.slice(0, mostShown)
        ) : (
          <Words
            left={side === 'left' ? event.text : other.text}
            right={side === 'left' ? other.text : event.text}
            side={side}
          />
        )}
        {event.text.length > mostShown && ' …'}
      </p>
    </div>
  );
});

function Words({
  left,
  right,
  side,
}: {
  readonly left: string;
  readonly right: string;
  readonly side: 'left' | 'right';
}) {
  return diffWordsWithSpace(left, right).map(({ value, added, removed }, index) => {
    if (side === 'left' ? added : removed) return null;
    return added || removed ? <mark key={index}>{value}</mark> : <span key={index}>{value}</span>;
  });
}
