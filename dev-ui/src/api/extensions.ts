import type { UsageReport } from '../../../src/schemas/budget.ts';
import type { Content } from '../../../src/schemas/content.ts';
import type {
  AgentGraph,
  AppTool,
  Capabilities,
  IndexedArtifact,
  LiveSpan,
  SpanChanges,
  ToolOutcome,
  Trace,
  TraceSummaries,
} from '../../../src/schemas/extensions.ts';
import type { Session, SessionKey, State } from '../../../src/schemas/session.ts';
import { getJson, path, request, sendJson } from './server.ts';
import { sessionPath } from './sessions.ts';

// Endpoints that ADK does not have: docs/extensions.md.

export const readCapabilities = (signal?: AbortSignal): Promise<Capabilities> => getJson('capabilities', signal);

/** The budgets that apply to a session, and what is used of them. */
export const readUsage = (key: SessionKey, signal?: AbortSignal): Promise<UsageReport> =>
  getJson(`${sessionPath(key)}/usage`, signal);

export const readAgentGraph = (app: string, signal?: AbortSignal): Promise<AgentGraph> =>
  getJson(path`apps/${app}/agent-graph`, signal);

export const listTools = async (app: string, signal?: AbortSignal): Promise<AppTool[]> =>
  (await getJson<{ tools: AppTool[] }>(path`apps/${app}/tools`, signal)).tools;

export interface ToolRun {
  readonly agent: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly state: State;
}

/** Runs one tool without a model. Its changes to state and artifacts are discarded. */
export const runTool = async (app: string, body: ToolRun, signal: AbortSignal): Promise<ToolOutcome> => {
  const response = await request(path`apps/${app}/tools/run`, { method: 'POST', body, signal });
  return (await response.json()) as ToolOutcome;
};

export const indexArtifacts = async (key: SessionKey, signal?: AbortSignal): Promise<IndexedArtifact[]> =>
  (await getJson<{ artifacts: IndexedArtifact[] }>(`${sessionPath(key)}/artifact-index`, signal)).artifacts;

/** Where a fork ends: the last event it keeps, or the first it does not. */
export type Cut = { readonly eventId: string } | { readonly beforeEventId: string };

export type ForkChanges = Cut & {
  /** Replaces the content of that event; its other effects, such as state it wrote, stay. */
  readonly content?: Content;
  /** Merged into the state at that point. */
  readonly state?: State;
};

export const forkSession = (key: SessionKey, changes: ForkChanges): Promise<Session> =>
  sendJson('POST', `${sessionPath(key)}/fork`, changes);

export interface TraceQuery {
  readonly q?: string;
  readonly cursor?: string;
}

export const listTraces = ({ q = '', cursor }: TraceQuery, signal?: AbortSignal): Promise<TraceSummaries> => {
  const query = new URLSearchParams({ pageSize: '100', q, ...(cursor !== undefined && { cursor }) });
  return getJson(`traces?${query}`, signal);
};

/** Without requests and responses. Throws 404 when the trace is not kept. */
export const readTrace = (traceId: string, signal?: AbortSignal): Promise<Trace> =>
  getJson(path`traces/${traceId}`, signal);

/** One span with all attributes. */
export const readSpan = (traceId: string, spanId: string, signal?: AbortSignal): Promise<LiveSpan> =>
  getJson(path`traces/${traceId}/spans/${spanId}`, signal);

/** Spans of a session that began or ended since the mark of an earlier response; 0: all. */
export const readSpanChanges = (key: SessionKey, since: number, signal?: AbortSignal): Promise<SpanChanges> =>
  getJson(
    `${path`dev/apps/${key.appName}/sessions/${key.sessionId}/spans`}?${new URLSearchParams({ userId: key.userId, since: String(since) })}`,
    signal,
  );
