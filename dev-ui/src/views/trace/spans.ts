import type { LiveSpan } from '../../../../src/schemas/extensions.ts';

export type SpanKind = 'run' | 'agent' | 'model' | 'tool' | 'other';

/** A span as the waterfall draws it. Times are milliseconds since the epoch. */
export interface Span {
  readonly id: string;
  readonly traceId: string;
  readonly parentId: string | undefined;
  readonly kind: SpanKind;
  readonly label: string;
  readonly start: number;
  /** While it is open: `undefined`. */
  readonly end: number | undefined;
  readonly error: string | undefined;
  /** The name of the error and the `file:line` that threw it, if known. */
  readonly errorName: string | undefined;
  readonly where: string | undefined;
  readonly model: string | undefined;
  readonly tokens: { readonly input: number; readonly output: number } | undefined;
  readonly eventId: string | undefined;
  readonly invocationId: string | undefined;
}

const nanosPerMs = 1e6;

export function spanOf(live: LiveSpan): Span {
  const { attributes } = live;
  const input = numberIn(attributes['gen_ai.usage.input_tokens']);
  const output = numberIn(attributes['gen_ai.usage.output_tokens']);
  const kind = kinds[live.kind];
  return {
    id: live.span_id,
    traceId: live.trace_id,
    parentId: live.parent_span_id ?? undefined,
    kind,
    label: labelOf(live),
    start: live.start_time / nanosPerMs,
    end: live.end_time === undefined ? undefined : live.end_time / nanosPerMs,
    error: attributes['error.type'] === undefined ? undefined : (textIn(attributes['error.message']) ?? 'failed'),
    errorName: textIn(attributes['error.type']),
    where: textIn(attributes['agent_server.error.where']),
    model: kind === 'model' ? textIn(attributes['gen_ai.request.model']) : undefined,
    tokens: input === undefined && output === undefined ? undefined : { input: input ?? 0, output: output ?? 0 },
    eventId: textIn(attributes['gcp.vertex.agent.event_id']),
    invocationId: textIn(attributes['gcp.vertex.agent.invocation_id']),
  };
}

const kinds: Record<LiveSpan['kind'], SpanKind> = {
  invocation: 'run',
  agent: 'agent',
  model: 'model',
  tool: 'tool',
  merged_tools: 'tool',
  code: 'other',
};

/** Spans of agents and tools are named "invoke_agent NAME" and "execute_tool NAME". */
function labelOf({ kind, name }: LiveSpan): string {
  if (kind === 'invocation') return 'run';
  if (kind === 'model') return 'call';
  return kind === 'code' ? name : name.slice(name.indexOf(' ') + 1);
}

const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const numberIn = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

/** One row of the waterfall. */
export interface SpanRow {
  readonly span: Span;
  readonly depth: number;
  readonly children: number;
  readonly isFolded: boolean;
  readonly onCriticalPath: boolean;
}

export interface Tree {
  readonly roots: readonly Span[];
  readonly childrenOf: ReadonlyMap<string, readonly Span[]>;
}

/** Spans by parent, each list in order of start. One whose parent is unknown is a root. */
export function treeOf(spans: Iterable<Span>): Tree {
  const all = [...spans].toSorted((a, b) => a.start - b.start);
  const ids = new Set(all.map(({ id }) => id));
  const roots: Span[] = [];
  const childrenOf = new Map<string, Span[]>();
  for (const span of all) {
    if (span.parentId === undefined || !ids.has(span.parentId)) {
      roots.push(span);
      continue;
    }
    const siblings = childrenOf.get(span.parentId);
    if (siblings) siblings.push(span);
    else childrenOf.set(span.parentId, [span]);
  }
  return { roots, childrenOf };
}

/** The rows to render, parents before children, without the children of folded spans. */
export function rowsOf({ roots, childrenOf }: Tree, folded: ReadonlySet<string>, path: ReadonlySet<string>): SpanRow[] {
  const rows: SpanRow[] = [];
  const open: { span: Span; depth: number }[] = roots.toReversed().map((span) => ({ span, depth: 0 }));
  for (let next = open.pop(); next; next = open.pop()) {
    const { span, depth } = next;
    const children = childrenOf.get(span.id) ?? [];
    const isFolded = folded.has(span.id);
    rows.push({ span, depth, children: children.length, isFolded, onCriticalPath: path.has(span.id) });
    if (isFolded) continue;
    for (const child of children.toReversed()) open.push({ span: child, depth: depth + 1 });
  }
  return rows;
}

/**
 * The critical path: the spans that determine the duration of each root. It goes back from the end of the root, always to
 * the child that ended last before the next span of the path began.
 */
export function criticalPath({ roots, childrenOf }: Tree, now: number): Set<string> {
  const path = new Set<string>();
  const visit = (span: Span): void => {
    path.add(span.id);
    const children = (childrenOf.get(span.id) ?? []).toSorted((a, b) => (b.end ?? now) - (a.end ?? now));
    let until = span.end ?? now;
    for (const child of children) {
      if ((child.end ?? now) > until + slackMs) continue;
      visit(child);
      until = child.start;
    }
  };
  for (const root of roots) visit(root);
  return path;
}

/** Clocks of parent and child are read one after the other. */
const slackMs = 0.5;
