import { z } from 'zod';
import { FunctionCall } from './content-schema.ts';
import { lenient } from './lenient.ts';
import { Name } from './names.ts';
import { TraceSpan } from './records.ts';

// Answers of the routes ADK does not have (docs/extensions.md). Times are seconds since the epoch, of spans nanoseconds.

const jsonObject = z.record(z.string(), z.unknown());

const Store = z.object({ kind: z.string(), durable: z.boolean() });

/** What this server can do, and how much of it at a time. */
export const Capabilities = z
  .object({
    version: z.string(),
    features: z.array(z.string()),
    /** The parts for development that are on. */
    development: z.array(z.string()),
    limits: z.object({
      bodyBytes: z.number().int(),
      eventsPerPage: z.number().int(),
      sessionsPerPage: z.number().int(),
      tracesPerPage: z.number().int(),
    }),
    stores: z.object({ sessions: Store, artifacts: Store.optional(), memories: Store.optional() }),
  })
  .meta({ id: 'Capabilities' });
export type Capabilities = z.infer<typeof Capabilities>;

/** A session as a list shows it. `metadata` is what clients keep in `__session_metadata__` besides the name. */
export const SessionSummary = z
  .object({
    id: z.string(),
    title: z.string(),
    titleSource: z.enum(['name', 'message', 'id']),
    lastUpdateTime: z.number(),
    eventCount: z.number().int(),
    match: z.string().optional(),
    metadata: jsonObject,
  })
  .meta({ id: 'SessionSummary' });
export type SessionSummary = z.infer<typeof SessionSummary>;

export const SessionSummaries = z.object({ sessions: z.array(SessionSummary), cursor: z.string().optional() });
export type SessionSummaries = z.infer<typeof SessionSummaries>;

/** A call that waits for the user's answer. */
export const OpenRequest = z
  .object({
    kind: z.enum(['confirmation', 'input', 'credential', 'longRunning']),
    eventId: z.string(),
    invocationId: z.string(),
    author: z.string(),
    timestamp: z.number(),
    call: FunctionCall,
    hint: z.string().optional(),
    payload: z.unknown().optional(),
    about: FunctionCall.optional(),
    schema: jsonObject.optional(),
  })
  .meta({ id: 'OpenRequest' });
export type OpenRequest = z.infer<typeof OpenRequest>;

export const OpenRequests = z.object({ requests: z.array(OpenRequest) });

/** A tool as the graph shows it. The tools of a toolset are known while it runs only. */
export const GraphTool = z.object({
  name: z.string(),
  kind: z.enum(['tool', 'toolset', 'agent']),
  description: z.string(),
  isLongRunning: z.boolean(),
  asksFirst: z.boolean(),
});
export type GraphTool = z.infer<typeof GraphTool>;

export const GraphNode = z
  .object({
    id: z.string(),
    name: z.string(),
    kind: z.enum(['llm', 'sequential', 'parallel', 'loop', 'remote', 'custom']),
    description: z.string(),
    model: z.string().optional(),
    instruction: z.string().optional(),
    tools: z.array(GraphTool),
  })
  .meta({ id: 'GraphNode' });
export type GraphNode = z.infer<typeof GraphNode>;

export const GraphEdge = z
  .object({ from: z.string(), to: z.string(), kind: z.enum(['transfer', 'contains', 'next', 'again']) })
  .meta({ id: 'GraphEdge' });
export type GraphEdge = z.infer<typeof GraphEdge>;

/** The agents of an app, for drawing. An id is the path of names from the root. */
export const AgentGraph = z
  .object({
    root: z.string(),
    nodes: z.array(GraphNode),
    edges: z.array(GraphEdge),
    readme: z.string().optional(),
  })
  .meta({ id: 'AgentGraph' });
export type AgentGraph = z.infer<typeof AgentGraph>;

/** One tool of one agent. `parameters` is JSON Schema. */
export const AppTool = GraphTool.extend({ agent: z.string(), parameters: jsonObject.optional() }).meta({
  id: 'AppTool',
});
export type AppTool = z.infer<typeof AppTool>;

/** The user of a tool that runs alone, where the server does not know its callers. */
export const defaultToolUser = 'user';

/** A tool to run alone. */
export const ToolTrial = lenient({
  agent: z.string(),
  name: z.string().min(1),
  args: jsonObject.default({}),
  state: jsonObject.optional(),
  /** Absent: the caller. */
  userId: Name.optional().meta({ default: defaultToolUser }),
}).meta({ id: 'ToolTrial' });

/** What code of an app threw: the name of the error, its message, and the `file:line` that threw it. */
const Thrown = z.object({
  name: z.string().optional(),
  message: z.string(),
  where: z.string().optional(),
});

/**
 * What came of it: `response` is `null` while the answer is not the tool's to give, `thrown` is what the tool threw, in
 * development only. Time is in milliseconds.
 */
export const ToolOutcome = z
  .object({
    response: jsonObject.nullable(),
    stateDelta: jsonObject,
    artifacts: z.record(z.string(), z.number()),
    requests: z.array(OpenRequest),
    ms: z.number(),
    thrown: Thrown.optional(),
  })
  .meta({ id: 'ToolOutcome' });
export type ToolOutcome = z.infer<typeof ToolOutcome>;

const IndexedVersion = z.object({
  version: z.number().int(),
  mimeType: z.string().optional(),
  size: z.number().int().optional(),
  createTime: z.number(),
  customMetadata: jsonObject,
});

/** An artifact with all its versions, without their content. Type and size are those of the newest. */
export const IndexedArtifact = z
  .object({
    name: z.string(),
    scope: z.enum(['session', 'user']),
    mimeType: z.string().optional(),
    size: z.number().int().optional(),
    createTime: z.number(),
    updateTime: z.number(),
    versions: z.array(IndexedVersion),
  })
  .meta({ id: 'IndexedArtifact' });
export type IndexedArtifact = z.infer<typeof IndexedArtifact>;

/** What one trace amounts to. `endTime` is absent while it runs. */
export const TraceSummary = z
  .object({
    traceId: z.string(),
    name: z.string(),
    appName: z.string().optional(),
    userId: z.string().optional(),
    sessionIds: z.array(z.string()),
    invocationId: z.string().optional(),
    startTime: z.number(),
    endTime: z.number().optional(),
    status: z.enum(['running', 'ok', 'error']),
    spanCount: z.number().int(),
    modelCalls: z.number().int(),
    toolCalls: z.number().int(),
    inputTokens: z.number().int(),
    outputTokens: z.number().int(),
    models: z.array(z.string()),
  })
  .meta({ id: 'TraceSummary' });
export type TraceSummary = z.infer<typeof TraceSummary>;

/**
 * What a span stands for, whatever its name: `merged_tools` is ADK's span for an event with several responses, beside
 * those of the `tool` calls; `code` is code that a model has written.
 */
export const SpanKind = z.enum(['invocation', 'agent', 'model', 'tool', 'merged_tools', 'code']);
export type SpanKind = z.infer<typeof SpanKind>;

/** A span that may still be open: then it has no `end_time`. */
export const LiveSpan = TraceSpan.extend({ kind: SpanKind, end_time: z.number().optional() }).meta({ id: 'LiveSpan' });
export type LiveSpan = z.infer<typeof LiveSpan>;

export const TraceSummaries = z.object({ traces: z.array(TraceSummary), cursor: z.string().optional() });
export type TraceSummaries = z.infer<typeof TraceSummaries>;

export const Trace = TraceSummary.extend({ spans: z.array(LiveSpan) }).meta({ id: 'Trace' });
export type Trace = z.infer<typeof Trace>;

/** What changed among the spans of a session since a mark. */
export const SpanChanges = z.object({ spans: z.array(LiveSpan), mark: z.number().int(), running: z.boolean() });
export type SpanChanges = z.infer<typeof SpanChanges>;
