import type { TraceSummary } from '../schemas/extensions.ts';
import type { SpanRecord } from './spans.ts';

/** What a reader sees: the traces of an app, of a user, and of some apps; absent fields limit nothing. */
export interface TraceScope {
  readonly appName?: string | undefined;
  readonly userId?: string | undefined;
  readonly apps?: ReadonlySet<string> | undefined;
  /** False: without what shows how agents are made (instructions, descriptions, errors of code); content reads as `{}`. */
  readonly withContent?: boolean | undefined;
}

/** Whether traces of this app and user are within a scope. */
export const isWithin = (
  owner: { readonly appName?: string | undefined; readonly userId?: string | undefined },
  { appName, userId, apps }: TraceScope,
): boolean =>
  (appName === undefined || owner.appName === appName) &&
  (userId === undefined || owner.userId === userId) &&
  (apps === undefined || apps.has(owner.appName ?? ''));

/** Selects traces, newest first. `cursor` comes from the page before. */
export interface TraceQuery extends TraceScope {
  readonly pageSize: number;
  readonly cursor?: number | undefined;
  readonly sessionId?: string | undefined;
  /** Words that must all occur in names, models or ids, in any case. */
  readonly q?: string | undefined;
}

interface RecordedTrace {
  readonly id: string;
  readonly root: SpanRecord;
  readonly spans: readonly SpanRecord[];
  readonly sessionIds: readonly string[];
  readonly open: number;
}

/** Model names in a summary. */
const maxModels = 100;

/** Summarizes the kept spans of a trace. */
export function summarize({ id, root, spans, sessionIds, open }: RecordedTrace): TraceSummary {
  const models = new Set<string>();
  const counts = { modelCalls: 0, toolCalls: 0, inputTokens: 0, outputTokens: 0 };
  let failed = false;
  let endTime = 0;
  for (const { kind, attributes, endTime: end } of spans) {
    if (end > endTime) endTime = end;
    failed ||= attributes['error.type'] !== undefined;
    if (kind === 'tool') counts.toolCalls += 1;
    if (kind !== 'model') continue;
    counts.modelCalls += 1;
    counts.inputTokens += numberIn(attributes['gen_ai.usage.input_tokens']);
    counts.outputTokens += numberIn(attributes['gen_ai.usage.output_tokens']);
    const model = textIn(attributes['gen_ai.request.model']);
    if (model && models.size < maxModels) models.add(model);
  }
  const appName = textIn(root.attributes['agent_server.app_name']);
  const userId = textIn(root.attributes['user.id']);
  const invocationId = textIn(root.attributes['gcp.vertex.agent.invocation_id']);
  return {
    traceId: id,
    name: root.name,
    ...(appName !== undefined && { appName }),
    ...(userId !== undefined && { userId }),
    sessionIds: [...sessionIds],
    ...(invocationId !== undefined && { invocationId }),
    startTime: root.startTime,
    ...(open === 0 && { endTime }),
    status: open > 0 ? 'running' : failed ? 'error' : 'ok',
    spanCount: spans.length,
    ...counts,
    models: [...models],
  };
}

/** Whether a trace matches the query. */
export function fits(trace: TraceSummary, { sessionId, q = '', ...scope }: TraceQuery): boolean {
  if (!isWithin(trace, scope)) return false;
  if (sessionId !== undefined && !trace.sessionIds.includes(sessionId)) return false;
  const { traceId, name, userId = '', invocationId = '' } = trace;
  const words = new Set(q.toLowerCase().split(/\s+/));
  const text = [traceId, name, trace.appName, userId, invocationId, ...trace.models, ...trace.sessionIds]
    .join('\n')
    .toLowerCase();
  return [...words].every((word) => text.includes(word));
}

const numberIn = (value: unknown): number => (typeof value === 'number' ? value : 0);
const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
