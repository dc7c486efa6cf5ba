import { isInternalKey } from '../../log/internal-keys.ts';
import type { NoteRow } from '../../log/rows.ts';

const shortest = 40;

/** What an event without content did. */
export function NoteView({ row: { event } }: { readonly row: NoteRow }) {
  const { actions } = event;
  const keys = Object.keys(actions.stateDelta).filter((key) => !isInternalKey(key));
  const files = Object.entries(actions.artifactDelta);
  const notes: string[] = [];
  if (actions.rewindBeforeInvocationId !== undefined) notes.push('rewound to before an earlier turn');
  if (keys.length > 0) notes.push(`set ${keys.map((key) => `${key} = ${short(actions.stateDelta[key])}`).join(', ')}`);
  if (files.length > 0)
    notes.push(`saved ${files.map(([name, version]) => `${name} (version ${version})`).join(', ')}`);
  if (actions.compaction) notes.push('summarized the earlier events');
  if (actions.escalate) notes.push('ended the loop');
  if (actions.endOfAgent) notes.push('ended the agent call');
  return <p className="note-line secondary">{notes.join(' · ')}</p>;
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? '';
  return text.length > shortest ? `${text.slice(0, shortest)}…` : text;
}
