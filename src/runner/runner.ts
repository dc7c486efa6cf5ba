import type { ErrorPolicy } from '../base/error-policy.ts';
import { AppError } from '../base/errors.ts';
import { newUuid } from '../base/uuid.ts';
import type { CredentialExchanger } from '../core/auth.ts';
import { activeEvents, wasRewound } from '../core/events/history.ts';
import { pluginsFor } from '../core/hooks.ts';
import type { LiveInput, ModelRegistry } from '../core/model.ts';
import { runConfigFor } from '../core/run-config.ts';
import type { TakenOverRun } from '../core/run-store.ts';
import type { AgentLoader, App, Plugin, RunContext, RunLog } from '../core/runtime.ts';
import type { Services } from '../core/services.ts';
import type { Prices } from '../schemas/prices.ts';
import type { OnBusy, RunConfig, RunRequest } from '../schemas/run.ts';
import { keyOf, type Session, type SessionKey } from '../schemas/session.ts';
import { InMemoryUsage } from '../services/usage/in-memory.ts';
import { openTelemetry } from '../telemetry/open-telemetry.ts';
import { openSpan, rootTrace, type SpanSink } from '../telemetry/spans.ts';
import { eventsAtStart } from './agent-to-run.ts';
import { BudgetMeter } from './budgets/budget-meter.ts';
import { type ForkRequest, forkSession, rewindSession, rollBackRun } from './fork-and-rewind.ts';
import { type LiveRunRequest, LiveSession } from './live/live-session.ts';
import { checkPluginNames, closeAll } from './plugins.ts';
import { fencedServices } from './queue/fenced-stores.ts';
import { LocalRunQueue } from './queue/local-queue.ts';
import {
  type QueuedRun,
  type QueueRequest,
  type RunQueue,
  type RunSlot,
  sessionNotFound,
  type Submission,
  type TakeoverQueue,
} from './queue/run-queue.ts';
import { eventsOfRun, type Run, type RunScope } from './run-events.ts';
import { previewStateDelta, storableRequest, storeUserMessage } from './user-message.ts';

export interface RunnerOptions {
  readonly loader: AgentLoader;
  readonly services: Services;
  readonly models: ModelRegistry;
  /** Called before an app's own plugins. */
  readonly plugins?: readonly Plugin[];
  /** Where finished spans go. */
  readonly traces?: SpanSink;
  /** The operator's settings: an app and a request can only tighten their limits, see `runConfigFor`. */
  readonly runConfig?: RunConfig;
  /** What models cost, for budgets in US dollars. */
  readonly prices?: Prices;
  /** Default `queue`. */
  readonly onBusy?: OnBusy;
  /** Runs that may wait for one session. Default 16. */
  readonly maxQueued?: number;
  /** Admits runs to their sessions. Default: a queue of this runner's own. */
  readonly queue?: RunQueue;
  /** Where the runtime reports faults that do not end a run. */
  readonly log?: RunLog;
  /** Decides what clients see of errors in authors' code. Default: `start` and runs throw them unchanged. */
  readonly errors?: ErrorPolicy;
  /** Exchanges users' answers to credential requests for credentials. */
  readonly credentials?: CredentialExchanger;
  /** Milliseconds each plugin and agent gets to close. Default 5,000. */
  readonly closeTimeoutMs?: number;
}

/** The client's input of a live run, and the callback for rejected messages. */
interface LiveClient {
  readonly input: AsyncIterable<LiveInput>;
  readonly onRefused: LiveRunRequest['onRefused'];
}

/** A run before it has its session: its app stays loaded until `close`. */
interface PreparedRun extends RunScope {
  readonly id: string;
  readonly request: RunRequest;
  readonly client: LiveClient | undefined;
  readonly app: App;
  readonly runConfig: RunConfig;
  readonly onBusy: OnBusy;
}

/** A run in the queue of its session. Call `begin` once. */
export class PendingRun {
  readonly #runner: Runner;
  readonly #prepared: PreparedRun;
  readonly #queued: QueuedRun;

  constructor(runner: Runner, prepared: PreparedRun, queued: QueuedRun) {
    this.#runner = runner;
    this.#prepared = prepared;
    this.#queued = queued;
  }

  get runId(): string {
    return this.#prepared.id;
  }

  /** Other runs of the session go before it. */
  get isWaiting(): boolean {
    return this.#queued.isWaiting;
  }

  /** A database has the run: it is resumed on another replica or later, even if this process ends. */
  get isPersisted(): boolean {
    return this.#queued.isPersisted;
  }

  /** Resolves once the run has its session and the message is stored. Throws what `Runner.start` throws. */
  begin(): Promise<Run> {
    return this.#runner.begin(this.#prepared, this.#queued);
  }
}

/** Runs an app's agent for one user message: every event is stored before it is yielded. */
export class Runner {
  readonly #options: RunnerOptions;
  readonly #queue: RunQueue;
  /** For budgets where the services have no store of usage. */
  readonly #ownUsage = new InMemoryUsage();
  readonly #runConfigs = new WeakMap<App, RunConfig>();

  constructor(options: RunnerOptions) {
    checkPluginNames(options.plugins ?? []);
    this.#options = options;
    this.#queue = options.queue ?? new LocalRunQueue(options.maxQueued);
  }

  /**
   * Resolves once the run has its session and the message is stored. Throws errors of the client before the first event:
   * `app_not_found`, `session_not_found`, `session_busy`, `queue_full`, `invalid_request`.
   */
  async start(request: RunRequest, signal: AbortSignal): Promise<Run> {
    return (await this.enqueue(request, signal)).begin();
  }

  /**
   * Resolves once the run has its session: a conversation that lasts until `input` ends. Throws what `start` throws before
   * the first event. `input` has to end, or fail, when the run is over.
   */
  async startLive(
    { onRefused, ...request }: LiveRunRequest,
    input: AsyncIterable<LiveInput>,
    signal: AbortSignal,
  ): Promise<Run> {
    const runConfig: RunConfig = { ...request.runConfig, streamingMode: 'bidi' };
    const prepared = await this.#prepare({ ...request, runConfig, streaming: false }, { input, onRefused });
    return (await this.#enqueue(prepared, signal, undefined)).begin();
  }

  /** The first half of `start`: resolves once the run is in the queue of its session. `submission`: of a background run. */
  async enqueue(request: RunRequest, signal: AbortSignal, submission?: Submission): Promise<PendingRun> {
    return this.#enqueue(await this.#prepare(request), signal, submission);
  }

  /** The same for a run that this replica has taken over. `request` names it by its `invocationId`. */
  async enqueueLost(
    request: RunRequest,
    lost: TakenOverRun,
    queue: TakeoverQueue,
    signal: AbortSignal,
  ): Promise<PendingRun> {
    const prepared = await this.#prepare(request);
    try {
      return new PendingRun(this, prepared, await queue.takeOver(lost, prepared.onBusy, signal));
    } catch (error) {
      throw this.#fail(prepared, error);
    }
  }

  async #prepare(request: RunRequest, client?: LiveClient): Promise<PreparedRun> {
    const { loader, onBusy = 'queue', traces } = this.#options;
    const app = await loader.loadAgent(request.appName);
    const release = loader.retain?.(app);
    const runConfig = this.#runConfigFor(app, request.runConfig);
    const span = openSpan('invocation', 'invocation', rootTrace(traces, openTelemetry));
    return {
      id: request.invocationId ?? `e-${newUuid()}`,
      request,
      client,
      app,
      runConfig,
      onBusy: request.onBusy ?? onBusy,
      span,
      close: () => {
        span.end();
        release?.();
      },
    };
  }

  async #enqueue(prepared: PreparedRun, signal: AbortSignal, submission: Submission | undefined): Promise<PendingRun> {
    const { id, request, client, onBusy, runConfig } = prepared;
    const wanted: QueueRequest = {
      session: request,
      runId: id,
      kind: client ? 'live' : 'run',
      onBusy,
      request: storableRequest(request),
      isNew: submission?.isNew ?? request.invocationId === undefined,
      submission,
    };
    try {
      const queued = runConfig.autoCreateSession
        ? await this.#acquireAnySession(wanted, signal)
        : await this.#queue.acquire(wanted, signal);
      return new PendingRun(this, prepared, queued);
    } catch (error) {
      throw this.#fail(prepared, error);
    }
  }

  /** A queue in a database rejects a run of a session that does not exist: creates the session then. */
  async #acquireAnySession(wanted: QueueRequest, signal: AbortSignal): Promise<QueuedRun> {
    try {
      return await this.#queue.acquire(wanted, signal);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'session_not_found') throw error;
      await this.#createSession(wanted.session);
      return this.#queue.acquire(wanted, signal);
    }
  }

  /** Releases what was prepared for a run. Returns the error for clients. */
  #fail(prepared: PreparedRun, error: unknown): unknown {
    prepared.span.fail(error);
    prepared.close();
    return this.#report(error);
  }

  /** The second half of `start`, called by `PendingRun`. */
  async begin(prepared: PreparedRun, queued: QueuedRun): Promise<Run> {
    let slot: RunSlot | undefined;
    try {
      slot = await queued.slot();
      const { request, client } = prepared;
      const services = this.#servicesOf(slot);
      if (slot.rollbackOf !== undefined) await rollBackRun(services, request, slot.rollbackOf);
      const session = await this.#sessionFor(prepared, services);
      slot.output.start(session);
      const ctx = this.#contextFor(prepared, slot, { session, services });
      if (client) return eventsOfRun(ctx, slot, prepared, new LiveSession(ctx, client.input, client.onRefused));
      const userContent = await storeUserMessage(request, ctx);
      return eventsOfRun(userContent ? { ...ctx, userContent } : ctx, slot, prepared);
    } catch (error) {
      const shown = this.#fail(prepared, error);
      await slot?.release(shown);
      throw shown;
    }
  }

  /** The session for the run: without rewound events, and with the request's state. */
  async #sessionFor({ request, runConfig }: PreparedRun, { sessions }: Services): Promise<Session> {
    const found = await sessions.getSession(request);
    if (!found && !runConfig.autoCreateSession) throw sessionNotFound(request);
    const session = found ? withoutRewound(found) : await this.#createSession(request);
    if (isContinuation(request)) eventsAtStart(session.events, request.invocationId ?? '');
    if (request.stateDelta) previewStateDelta(request.stateDelta, session);
    return session;
  }

  #report(error: unknown): unknown {
    return this.#options.errors?.report(error) ?? error;
  }

  /** Copies a session up to an event (default: all of it). Throws `session_not_found`, `event_not_found`, `session_exists`. */
  fork(key: SessionKey, request: ForkRequest): Promise<Session> {
    return forkSession(this.#options.services, key, request);
  }

  /** Rewinds a session to before an invocation. Throws `session_busy` while it has a run, and what `fork` throws. */
  async rewind(key: SessionKey, invocationId: string): Promise<Session> {
    const slot = await this.#queue.acquireExclusive({ session: key, onBusy: 'reject' }, new AbortController().signal);
    try {
      return await rewindSession(this.#servicesOf(slot), key, invocationId);
    } finally {
      await slot.release();
    }
  }

  /** Computed once for requests without a run config, which most are. */
  #runConfigFor(app: App, request: RunConfig | undefined): RunConfig {
    const { runConfig: operator } = this.#options;
    if (request) return runConfigFor({ operator, app: app.runConfig, request });
    let usual = this.#runConfigs.get(app);
    if (!usual) this.#runConfigs.set(app, (usual = runConfigFor({ operator, app: app.runConfig })));
    return usual;
  }

  /** Closes the plugins and the loader, including every loaded agent. Failures are collected and thrown together. */
  async close(): Promise<void> {
    const { plugins = [], loader, closeTimeoutMs = 5_000 } = this.#options;
    await closeAll([...plugins, { name: 'loader', close: () => loader.close() }], closeTimeoutMs);
  }

  #createSession(key: SessionKey): Promise<Session> {
    return this.#options.services.sessions.createSession(key, { sessionId: key.sessionId });
  }

  #servicesOf(slot: RunSlot): Services {
    const { services } = this.#options;
    return fencedServices(services, slot, slot.sessions ?? services.sessions);
  }

  #contextFor(
    { id: invocationId, request, app, runConfig, span }: PreparedRun,
    slot: RunSlot,
    { session, services }: { readonly session: Session; readonly services: Services },
  ): RunContext {
    const { models, plugins = [], log, errors, credentials } = this.#options;
    const budget = runConfig.budgets && this.#budgetFor(invocationId, session, runConfig);
    span.set({
      'gcp.vertex.agent.invocation_id': invocationId,
      'gcp.vertex.agent.session_id': session.id,
      'agent_server.app_name': app.name,
      'user.id': session.userId,
    });
    return {
      invocationId,
      ...(isContinuation(request) && { continuing: true }),
      app,
      agent: app.rootAgent,
      session,
      services,
      models,
      plugins: pluginsFor(session, [...plugins, ...(app.plugins ?? [])]),
      runConfig: request.streaming ? { ...runConfig, streamingMode: 'sse' } : runConfig,
      calls: { count: 0 },
      ...(budget && { budget }),
      control: { ended: false },
      data: new Map(),
      trace: span.context,
      ...(log ? { log } : {}),
      ...(errors ? { errors } : {}),
      ...(credentials ? { credentials } : {}),
      ...((runConfig.streamingMode === 'bidi' || holdsAnswers(request.newMessage)) && { credentialAnswers: new Map() }),
      signal: slot.signal,
    };
  }

  #budgetFor(runId: string, session: Session, { budgets, timeoutMs = Infinity }: RunConfig): BudgetMeter | undefined {
    const { services, prices = {}, log } = this.#options;
    const { usage: store = this.#ownUsage } = services;
    return budgets && new BudgetMeter({ store, budgets, prices, key: { ...keyOf(session), runId }, timeoutMs, log });
  }
}

/** The session without its rewound events: no agent, summary or callback of a run sees them. */
function withoutRewound(session: Session): Session {
  return wasRewound(session) ? { ...session, events: [...activeEvents(session.events)] } : session;
}

/** Whether the message answers calls. */
const holdsAnswers = (message: RunRequest['newMessage']): boolean =>
  message?.parts?.some((part) => part.functionResponse !== undefined) ?? false;

/** An invocationId without a message resumes that invocation after its last stored event. */
const isContinuation = (request: RunRequest): boolean =>
  request.invocationId !== undefined && request.newMessage === undefined;
