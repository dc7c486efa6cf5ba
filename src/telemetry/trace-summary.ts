import type { TraceSummary } from '../schemas/extensions.ts';
import type { SpanRecord } from './spans.ts';

/** Which traces a list holds, newest first. `cursor` is the one of the page before. */
export interface TraceQuery {
  readonly pageSize: number;
  readonly cursor?: number | undefined;
  readonly appName?: string | undefined;
  readonly sessionId?: string | undefined;
  /** Words that all have to be in names, models or ids; any case. */
  readonly q?: string | undefined;
}

interface RecordedTrace {
  readonly id: string;
  readonly spans: readonly SpanRecord[];
  readonly sessions: readonly string[];
  readonly open: number;
}

/** What a trace amounts to. */
export function summarize({ id, spans, sessions, open }: RecordedTrace): TraceSummary {
  const models = new Set<string>();
  const counts = { modelCalls: 0, toolCalls: 0, inputTokens: 0, outputTokens: 0 };
  let failed = false;
  let endTime = 0;
  for (const { name, attributes, endTime: end } of spans) {
    if (end > endTime) endTime = end;
    failed ||= attributes['error.type'] !== undefined;
    if (name.startsWith('execute_tool ') && !name.endsWith('(merged)')) counts.toolCalls += 1;
    if (name !== 'call_llm') continue;
    counts.modelCalls += 1;
    counts.inputTokens += numberIn(attributes['gen_ai.usage.input_tokens']);
    counts.outputTokens += numberIn(attributes['gen_ai.usage.output_tokens']);
    const model = textIn(attributes['gen_ai.request.model']);
    if (model) models.add(model);
  }
  const [first] = spans;
  const appName = textIn(first?.attributes['agent_server.app_name']);
  const userId = textIn(first?.attributes['user.id']);
  const invocationId = textIn(first?.attributes['gcp.vertex.agent.invocation_id']);
  return {
    traceId: id,
    name: first?.name ?? '',
    ...(appName !== undefined && { appName }),
    ...(userId !== undefined && { userId }),
    sessionIds: [...sessions],
    ...(invocationId !== undefined && { invocationId }),
    startTime: first?.startTime ?? 0,
    ...(open === 0 && { endTime }),
    status: open > 0 ? 'running' : failed ? 'error' : 'ok',
    spanCount: spans.length,
    ...counts,
    models: [...models],
  };
}

/** Whether a list asked for this trace. */
export function fits(trace: TraceSummary, { appName, sessionId, q = '' }: TraceQuery): boolean {
  if (appName !== undefined && trace.appName !== appName) return false;
  if (sessionId !== undefined && !trace.sessionIds.includes(sessionId)) return false;
  const { traceId, name, userId = '', invocationId = '' } = trace;
  const text = [traceId, name, trace.appName, userId, invocationId, ...trace.models, ...trace.sessionIds].join('\n');
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.toLowerCase().includes(word));
}

const numberIn = (value: unknown): number => (typeof value === 'number' ? value : 0);
const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
