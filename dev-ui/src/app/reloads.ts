import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { listApps } from '../api/apps.ts';
import { toast } from '../parts/toasts.tsx';
import { queries } from './queries.ts';
import type { Workspace } from './workspace.ts';

const none: readonly number[] = [];

/** When edits of an app were loaded, in seconds since the epoch, the newest last. */
export function useReloads(appName: string): readonly number[] {
  const apps = useQuery({ queryKey: ['apps'], queryFn: ({ signal }) => listApps(signal) });
  return apps.data?.find(({ name }) => name === appName)?.reloads ?? none;
}

/** Shows a toast when the agent of the open session was reloaded. Checks after each run, because runs trigger reloads. */
export function useReloadNews({ key: { appName }, run: { status } }: Workspace): void {
  const newest = useReloads(appName).at(-1);
  const opened = useRef(Date.now() / 1_000);
  useEffect(() => {
    if (newest !== undefined && newest > opened.current) toast(`${appName} was edited and reloaded`);
  }, [newest, appName]);
  useEffect(() => {
    if (status !== 'running') void queries.invalidateQueries({ queryKey: ['apps'] });
  }, [status]);
}
