import { getHeapStatistics } from 'node:v8';
import type { ErrorPolicy } from '../base/error-policy.ts';
import type { Log } from '../core/log.ts';
import type { LiveInput } from '../core/model.ts';
import type { RequestCounts } from '../core/request-counts.ts';
import type { Runs } from '../core/runs.ts';
import type { AgentLoader } from '../core/runtime.ts';
import type { Services } from '../core/services.ts';
import type { Evaluations } from '../evaluation/evaluations.ts';
import type { Authenticator } from '../identity/authenticator.ts';
import type { ToolOutcome, ToolTrial } from '../runner/try-tool.ts';
import type { Budgets } from '../schemas/budget.ts';
import type { Content } from '../schemas/content.ts';
import type { Event } from '../schemas/event.ts';
import type { LiveSpan, SpanChanges, TraceSummaries, TraceSummary } from '../schemas/extensions.ts';
import type { Prices } from '../schemas/prices.ts';
import type { TraceSpan } from '../schemas/records.ts';
import type { OnBusy, RunConfig, RunRequest } from '../schemas/run.ts';
import type { Session, SessionKey, State } from '../schemas/session.ts';
import type { TraceQuery, TraceScope } from '../telemetry/trace-summary.ts';
import type { AccessLimits } from '../tools/access-limits.ts';
import type { DevelopmentPart } from './development-parts.ts';
import type { OperatorLimits } from './limits/caller-limits.ts';
import type { LoginDeps } from './login/login-deps.ts';

/** A started run: iterating it pulls its events, breaking off closes it. */
export interface RunEvents extends AsyncIterable<Event> {
  readonly invocationId: string;
}

/** A run in the queue of its session. `begin` resolves once it has the session and its message is stored. */
export interface PendingRun {
  readonly runId: string;
  /** Other runs of the session go before it. */
  readonly isWaiting: boolean;
  begin(): Promise<RunEvents>;
}

/** What the routes need of the runner. Both methods throw what is the client's fault, before the first event. */
export interface RunStarter {
  enqueue(request: RunRequest, signal: AbortSignal): Promise<PendingRun>;
}

/** The request that starts a live conversation. */
export interface LiveRunRequest extends SessionKey {
  readonly onBusy?: OnBusy | undefined;
  readonly runConfig?: RunConfig | undefined;
  /** Called for an invalid message; the conversation continues. */
  readonly onRefused?: (error: Error) => void;
}

/** What the live route needs of the runner; `startLive` throws like `start`. */
export interface LiveStarter {
  startLive(request: LiveRunRequest, input: AsyncIterable<LiveInput>, signal: AbortSignal): Promise<RunEvents>;
}

/** Up to which event a session is copied (absent: all of it), and what is different in the copy. */
export interface ForkRequest {
  readonly eventId?: string | undefined;
  readonly beforeEventId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly content?: Content | undefined;
  readonly state?: State | undefined;
  /** Whether `content` may replace a user message only, and not an agent event. */
  readonly userEventsOnly?: boolean | undefined;
}

/** What the routes need to go back in a session, and to go on in a copy of it. */
export interface SessionBrancher {
  fork(key: SessionKey, request: ForkRequest): Promise<Session>;
  rewind(key: SessionKey, invocationId: string): Promise<Session>;
}

/** What the routes need of the recorder of spans. */
export interface TraceReader {
  /** Attributes of the span that made this event; `undefined` when none is kept. */
  forEvent(eventId: string, scope?: TraceScope): Record<string, unknown> | undefined;
  /** The finished spans of all sessions with this id that are within the scope. */
  forSession(sessionId: string, scope?: TraceScope): Iterable<TraceSpan>;
  /** A page of traces, newest first. */
  list(query: TraceQuery): TraceSummaries;
  /** One trace with its spans; `undefined` when it is not kept. */
  trace(traceId: string, scope?: TraceScope): (TraceSummary & { readonly spans: Iterable<LiveSpan> }) | undefined;
  /** One span with its requests and answers. */
  span(traceId: string, spanId: string, scope?: TraceScope): LiveSpan | undefined;
  /** The session's spans that began or ended after a mark (0: all). */
  changes(
    sessionId: string,
    since: number,
    scope?: TraceScope,
  ): Omit<SpanChanges, 'spans'> & { readonly spans: Iterable<LiveSpan> };
  /** Drops what is kept of a session that is being deleted. */
  forget(key: SessionKey): void;
}

/** Cross-origin access, after the interface specification, section 4.4: six components in this order. */
export interface CorsConfig {
  /** Which paths it covers, in Ant style: `/**` is all, `/apps/**` everything below `/apps/`. */
  readonly mapping: string;
  /** Exact origins, or `*` alone (then without credentials). */
  readonly origins: readonly string[];
  readonly methods: readonly string[];
  /** Request headers a page may send. */
  readonly headers: readonly string[];
  readonly allowCredentials: boolean;
  /** Seconds for which a browser may remember a preflight. */
  readonly maxAge: number;
}

export interface HttpConfig {
  /** The address the server binds: on a loopback address the Host header must name this machine. */
  readonly host: string;
  /** Host names (without port) accepted besides the loopback ones. */
  readonly allowHosts: readonly string[];
  /** Origins, as the browser sends them, that may call besides our own. */
  readonly allowOrigins: readonly string[];
  /** Absent: derived from `allowOrigins`; no cross-origin access if that is empty too. */
  readonly cors?: CorsConfig;
  readonly bodyLimitBytes: number;
  /** Memory for all request bodies; further requests wait. */
  readonly bodiesLimitBytes: number;
  /** Largest artifact that is streamed into its store. */
  readonly artifactLimitBytes: number;
  readonly maxConnections: number;
  /** A built user interface to serve under `/dev-ui/`; absent: ours. */
  readonly devUiDir?: string;
  /** Folder of apps the visual builder may write to; absent: it writes nothing. */
  readonly builderRoot?: string;
  /** The only app it may write to, where the folder has others that are none of ours. */
  readonly builderApp?: string;
  /** What agents that it writes may access. */
  readonly builderLimits?: AccessLimits;
  /**
   * The parts of the API for development that are on; absent: all on a loopback address and where callers are known, none
   * elsewhere.
   */
  readonly development?: ReadonlySet<DevelopmentPart>;
  /** For each caller whose credential says nothing else, and for each address where callers are not known; absent: no limit. */
  readonly requestsPerMinute?: number;
  /** Failed authentications of one address in a minute; more get 429 instead of 401. */
  readonly failedAuthPerMinute: number;
  /** What each caller may have at the same time; absent: no limits. */
  readonly callerLimits?: OperatorLimits;
  /** App for requests that name none. */
  readonly defaultApp?: string;
  /** How long active runs may continue once the server closes. */
  readonly shutdownGraceMs: number;
  /** Idle time of an event stream after which the server sends a comment. */
  readonly keepAliveMs: number;
  /** How long a client may leave its event stream unread. */
  readonly stallMs: number;
  /** How long the client of an upload may be silent; other bodies have 30 s in all. */
  readonly uploadIdleMs: number;
  /** How long a run may continue after its client disconnected with `onDisconnect: "continue"`. */
  readonly detachedRunMs: number;
  /** How often a live client is pinged. One that does not answer until the next ping is disconnected. */
  readonly livePingMs: number;
  /** Idle time after which a live connection is closed. */
  readonly liveIdleMs: number;
}

/** Request headers that the server reads: pages of other origins may send these by default. */
export const corsHeaders: readonly string[] = [
  'content-type',
  'authorization',
  'idempotency-key',
  'last-event-id',
  'x-request-id',
  'x-adk-telemetry-request',
  'range',
  'if-range',
  'if-none-match',
];

export const httpDefaults: HttpConfig = {
  host: '127.0.0.1',
  allowHosts: [],
  allowOrigins: [],
  bodyLimitBytes: 10 * 1024 * 1024,
  // While it is processed, a body takes many times its bytes: as text, value, event and database statement.
  bodiesLimitBytes: getHeapStatistics().heap_size_limit / 16,
  artifactLimitBytes: 2 * 1024 ** 3,
  maxConnections: 10_000,
  failedAuthPerMinute: 1_000,
  shutdownGraceMs: 30_000,
  keepAliveMs: 15_000,
  stallMs: 60_000,
  uploadIdleMs: 30_000,
  detachedRunMs: 600_000,
  livePingMs: 20_000,
  liveIdleMs: 1_800_000,
};

/** The kind of each service's store, as the scheme of its URI: `memory`, `sqlite` … Absent: memory. */
export interface StoreKinds {
  readonly sessions?: string;
  readonly artifacts?: string;
  readonly memories?: string;
}

/** Everything that the HTTP layer needs. */
export interface HttpDeps {
  readonly loader: AgentLoader;
  readonly services: Services;
  readonly runner: RunStarter & LiveStarter & SessionBrancher;
  readonly runs: Runs;
  readonly traces: TraceReader;
  /** Absent: there is no route that runs a single tool. */
  tryTool?(trial: ToolTrial, signal: AbortSignal): Promise<ToolOutcome>;
  /** Absent: there are no evaluation routes. */
  readonly evaluations?: Evaluations;
  /** Our own version, for `/version` and the OpenAPI document. */
  readonly version: string;
  readonly log: Log;
  /** Finds out who calls. Absent: the server does not know its callers, and all may do what it offers. */
  readonly authenticator?: Authenticator | undefined;
  /** The login of the web UI; only with an authenticator, of which it is a part. */
  readonly login?: LoginDeps | undefined;
  /** The same that the runner has. Absent: one that goes by `config`, and knows nothing of what the runner told. */
  readonly errors?: ErrorPolicy;
  /** Where servers that share a database count requests together; absent: each counts its own. */
  readonly requestCounts?: RequestCounts | undefined;
  /** Tells clients which data outlives the process. */
  readonly stores?: StoreKinds;
  /** For cost estimates in clients; absent: none. */
  readonly prices?: Prices;
  /** What the operator lets runs use. Apps have budgets of their own. */
  readonly budgets?: Budgets | undefined;
  /** Absent fields have their default. */
  readonly config?: Partial<HttpConfig>;
}
