import { useSyncExternalStore } from 'react';
import { create } from 'zustand';
import { getLocation } from './location.ts';
import type { CommandContext } from './registry.ts';
import type { Workspace } from './workspace.ts';

/** The session on the screen, when there is one. */
export const useCurrent = create(() => ({ workspace: undefined as Workspace | undefined }));

/** The current context of commands. */
export function getContext(): CommandContext {
  const { workspace } = useCurrent.getState();
  const selected = getLocation().query.get('e');
  return { workspace, event: selected === null ? undefined : workspace?.log.eventOf(selected) };
}

/** Renders again when the log changes; returns its version for memos. */
export const useLogVersion = ({ log }: Workspace): number => useSyncExternalStore(log.subscribe, log.getVersion);

/** Renders again when the load status or the run changes. */
export const useWorkspaceVersion = (workspace: Workspace): number =>
  useSyncExternalStore(workspace.subscribe, workspace.getVersion);
