import { diffLines } from 'diff';
import { useMemo } from 'react';
import type { Workspace } from '../../app/workspace.ts';
import { Loading } from '../../parts/states.tsx';
import { kindOf, textIn } from './media.ts';
import { useArtifact } from './use-artifacts.ts';

interface VersionDiffProps {
  readonly workspace: Workspace;
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

const readable = new Set(['html', 'markdown', 'json', 'text']);
const longest = 300_000;
const mostLines = 2_000;

/** The changes between two versions, line by line. A separate file, so that the library is loaded on first use. */
export function VersionDiff({ workspace, name, from, to }: VersionDiffProps) {
  const before = useArtifact(workspace, name, from);
  const after = useArtifact(workspace, name, to);
  const lines = useMemo(() => {
    if (!before.data?.bytes || !after.data?.bytes) return undefined;
    if (before.data.bytes.length + after.data.bytes.length > longest) return undefined;
    return diffLines(textIn(before.data.bytes), textIn(after.data.bytes)).flatMap(({ value, added, removed }) =>
      value
        .replace(/\n$/, '')
        .split('\n')
        .map((text) => ({ text, mark: added ? '+' : removed ? '-' : ' ' })),
    );
  }, [before.data, after.data]);
  if (before.isPending || after.isPending) return <Loading label="Comparing" />;
  if (!after.data || !readable.has(kindOf(after.data.mimeType)) || !lines) {
    return <p className="secondary">These versions cannot be compared: they are too long or not text.</p>;
  }
  if (lines.every(({ mark }) => mark === ' ')) return <p className="secondary">Both versions are identical.</p>;
  return (
    <pre className="plain artifact-diff" tabIndex={0} aria-label={`Changes from version ${from} to ${to}`}>
      {lines.slice(0, mostLines).map(({ text, mark }, index) => (
        <div key={index} className={mark === '+' ? 'added' : mark === '-' ? 'removed' : undefined}>
          {mark} {text}
        </div>
      ))}
      {lines.length > mostLines && `… ${lines.length - mostLines} more lines`}
    </pre>
  );
}
