import { useLogVersion } from './current.ts';
import { metadataOf } from './names.ts';
import type { Workspace } from './workspace.ts';

export function SessionTitle({ workspace }: { readonly workspace: Workspace }) {
  useLogVersion(workspace);
  const { key, log } = workspace;
  const title = metadataOf(log).displayName ?? `Session ${key.sessionId.slice(0, 8)}`;
  return (
    <h1 className="crumb current truncate" aria-current="page" title={`${title} · ${key.sessionId}`}>
      {title}
    </h1>
  );
}
