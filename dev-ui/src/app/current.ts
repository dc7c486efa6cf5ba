import { useSyncExternalStore } from 'react';
import { create } from 'zustand';
import { getPlace } from './place.ts';
import type { CommandContext } from './registry.ts';
import type { Workspace } from './workspace.ts';

/** The session on the screen, when there is one. */
export const useCurrent = create(() => ({ workspace: undefined as Workspace | undefined }));

/** What a command is about now. */
export function getContext(): CommandContext {
  const { workspace } = useCurrent.getState();
  const selected = getPlace().query.get('e');
  return { workspace, event: selected === null ? undefined : workspace?.log.eventOf(selected) };
}

/** Draws again whenever the log changes; returns its version for memos. */
export const useLogVersion = ({ log }: Workspace): number => useSyncExternalStore(log.subscribe, log.getVersion);

/** Draws again whenever the load or the run changes. */
export const useWorkspaceVersion = (workspace: Workspace): number =>
  useSyncExternalStore(workspace.subscribe, workspace.getVersion);
