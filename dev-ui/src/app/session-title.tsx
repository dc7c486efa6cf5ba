import type { EventLog } from '../log/event-log.ts';
import { useLogVersion } from './current.ts';
import { metadataOf } from './names.ts';
import type { Workspace } from './workspace.ts';

export function SessionTitle({ workspace }: { readonly workspace: Workspace }) {
  useLogVersion(workspace);
  const { key, log } = workspace;
  const title = titleIn(log, key.sessionId);
  return (
    <h1 className="crumb current truncate" aria-current="page" title={`${title} · ${key.sessionId}`}>
      {title}
    </h1>
  );
}

const longest = 80;

/** The name of a session, else its first user message, else its id. */
function titleIn(log: EventLog, id: string): string {
  const { displayName } = metadataOf(log);
  if (displayName) return displayName;
  const first = log.events[log.byAuthor.get('user')?.[0] ?? -1];
  const text = first?.content?.parts.find((part) => part.text !== undefined)?.text;
  return text?.slice(0, longest) ?? `Session ${id.slice(0, 8)}`;
}
