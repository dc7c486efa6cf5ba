import type { AppSummary } from '../../../src/schemas/records.ts';
import { getJson, path } from './server.ts';

export type { AppSummary };

export const listApps = async (signal?: AbortSignal): Promise<AppSummary[]> =>
  (await getJson<{ apps: AppSummary[] }>('list-apps?detailed=true', signal)).apps;

export const readVersion = (signal?: AbortSignal): Promise<{ version: string; language_version: string }> =>
  getJson('version', signal);

/** The README of the app's folder without its title; empty when there is none. */
export async function readReadme(app: string, signal?: AbortSignal): Promise<string> {
  const { readme = '' } = await getJson<{ readme?: string }>(path`apps/${app}/agent-graph`, signal);
  return readme.replace(/^\s*# .*\n+/, '');
}
