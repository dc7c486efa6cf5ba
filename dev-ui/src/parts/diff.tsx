import { diffLines } from 'diff';

interface DiffProps {
  readonly before: string;
  readonly after: string;
  readonly label: string;
}

/** Lines around a change that are shown with it. */
const around = 2;
/** Texts longer than this are compared as a whole: a comparison by line would block the page. */
const longest = 400_000;

/** The changes between two texts, line by line; long equal parts are folded. Load it lazily: it is a bundle of its own. */
export function Diff({ before, after, label }: DiffProps) {
  if (before === after) return <p className="secondary">No differences.</p>;
  if (before.length + after.length > longest) return <p className="secondary">Too long to compare.</p>;
  const changes = diffLines(before, after);
  return (
    <pre className="diff" aria-label={label} tabIndex={0}>
      {changes.map(({ value, added, removed }, index) => {
        const lines = value.replace(/\n$/, '').split('\n');
        if (added || removed) {
          return (
            <span key={index} className={added ? 'added' : 'removed'}>
              {lines.map((line) => `${added ? '+' : '−'} ${line}\n`).join('')}
            </span>
          );
        }
        return <span key={index}>{folded(lines, { first: index === 0, last: index === changes.length - 1 })}</span>;
      })}
    </pre>
  );
}

function folded(lines: readonly string[], { first, last }: { first: boolean; last: boolean }): string {
  const head = first ? [] : lines.slice(0, around);
  const tail = last ? [] : lines.slice(-around);
  const hidden = lines.length - head.length - tail.length;
  const shown = hidden > 1 ? [...head, `⋯ ${hidden} lines`, ...tail] : lines;
  return shown.map((line) => `  ${line}\n`).join('');
}
