import type { AppSummary } from '../../../src/schemas/records.ts';
import { getJson, path } from './server.ts';

export type { AppSummary };

export interface AgentDetails {
  readonly name: string;
  readonly description: string;
  readonly instruction: string;
  readonly tools: readonly { readonly functionDeclarations: readonly FunctionDeclaration[] }[];
  readonly sub_agents: readonly string[];
}

export interface FunctionDeclaration {
  readonly name: string;
  readonly description?: string;
  readonly parameters?: unknown;
  readonly parametersJsonSchema?: unknown;
}

export interface AppDetails extends AppSummary {
  readonly agents: Readonly<Record<string, AgentDetails>>;
}

export const listApps = async (signal?: AbortSignal): Promise<AppSummary[]> =>
  (await getJson<{ apps: AppSummary[] }>('list-apps?detailed=true', signal)).apps;

/** Throws 400 for an app whose root is not an LLM agent. */
export const readApp = (app: string, signal?: AbortSignal): Promise<AppDetails> =>
  getJson(path`apps/${app}/app-info`, signal);

export const readVersion = (signal?: AbortSignal): Promise<{ version: string; language_version: string }> =>
  getJson('version', signal);

/** The README of the app's folder without its title; empty when there is none. */
export async function readReadme(app: string, signal?: AbortSignal): Promise<string> {
  const { readme = '' } = await getJson<{ readme?: string }>(path`apps/${app}/agent-graph`, signal);
  return readme.replace(/^\s*# .*\n+/, '');
}
