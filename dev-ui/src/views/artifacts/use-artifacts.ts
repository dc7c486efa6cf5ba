import { useQuery } from '@tanstack/react-query';
import type { Part } from '../../../../src/schemas/content.ts';
import type { IndexedArtifact } from '../../../../src/schemas/extensions.ts';
import type { SessionKey } from '../../../../src/schemas/session.ts';
import { loadArtifact } from '../../api/artifacts.ts';
import { indexArtifacts } from '../../api/extensions.ts';
import { useLogVersion } from '../../app/current.ts';
import type { Workspace } from '../../app/workspace.ts';
import { artifactHistoryOf } from '../../log/artifact-history.ts';
import { type Content, contentOf } from './media.ts';

const listKey = ({ appName, userId, sessionId }: SessionKey): string[] => ['artifacts', appName, userId, sessionId];

/** All artifacts of the session; requested again when an event saves one. */
export function useArtifacts(workspace: Workspace) {
  useLogVersion(workspace);
  const { saved } = artifactHistoryOf(workspace.log);
  return useQuery<IndexedArtifact[]>({
    queryKey: [...listKey(workspace.key), saved.length],
    queryFn: ({ signal }) => indexArtifacts(workspace.key, signal),
    placeholderData: (before: IndexedArtifact[] | undefined) => before,
    retry: false,
  });
}

/** The content of one version. It never changes, so it is read once. */
export function useArtifact(workspace: Workspace, name: string, version: number, enabled = true) {
  return useQuery<Part, Error, Content>({
    queryKey: ['artifact', ...listKey(workspace.key), name, version],
    queryFn: ({ signal }) => loadArtifact(workspace.key, name, version, signal),
    select: contentOf,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    enabled,
    retry: false,
  });
}

/** All cached queries of a session's artifacts. */
export const artifactsKey = listKey;
