import { randomUUID } from 'node:crypto';
import { stopOnAbort } from '../base/abort.ts';
import type { ErrorPolicy } from '../base/error-policy.ts';
import { AppError, errorText } from '../base/errors.ts';
import { yieldWhenDue } from '../base/event-loop.ts';
import { startTimer } from '../base/timers.ts';
import type { CredentialExchanger } from '../core/auth.ts';
import { activeEvents, wasRewound } from '../core/history.ts';
import { callAll, pluginsFor } from '../core/hooks.ts';
import type { LiveInput, ModelRegistry } from '../core/model.ts';
import { runConfigFor } from '../core/run-config.ts';
import type { AgentLoader, App, Plugin, RunContext, RunLog } from '../core/runtime.ts';
import type { Services } from '../core/services.ts';
import { llmSummarizer } from '../models/llm-summarizer.ts';
import type { Event } from '../schemas/event.ts';
import type { OnBusy, RunConfig, RunRequest } from '../schemas/run.ts';
import type { Session, SessionKey } from '../schemas/session.ts';
import { openSpan, type OpenSpan, rootTrace, type SpanSink } from '../telemetry/spans.ts';
import { eventsAtStart, runRootAgent, runSelectedAgent } from './agent-to-run.ts';
import { compactAfterRun } from './compaction.ts';
import { failureEvent } from './failure-event.ts';
import { type ForkRequest, forkSession, rewindSession, rollBackRun } from './fork-and-rewind.ts';
import { type LiveRunRequest, LiveSession } from './live/live-session.ts';
import { checkPluginNames, closeAll } from './plugins.ts';
import { fencedServices } from './queue/fenced-stores.ts';
import { LocalRunQueue } from './queue/local-queue.ts';
import type { RunQueue, RunSlot, StartOptions } from './queue/run-queue.ts';
import { store } from './store-event.ts';
import { previewStateDelta, storableRequest, storeUserMessage } from './user-message.ts';

export interface RunnerOptions {
  readonly loader: AgentLoader;
  readonly services: Services;
  readonly models: ModelRegistry;
  /** Asked before an app's own plugins. */
  readonly plugins?: readonly Plugin[];
  /** Where finished spans go. */
  readonly traces?: SpanSink;
  /** What the operator says: an app and a request can only tighten its limits, see `runConfigFor`. */
  readonly runConfig?: RunConfig;
  /** Default `queue`. */
  readonly onBusy?: OnBusy;
  /** Runs that may wait for one session. Default 16. */
  readonly maxQueued?: number;
  /** Gives runs their turn. Default: a queue of this runner's own. */
  readonly queue?: RunQueue;
  /** Where the runtime reports what it put up with. */
  readonly log?: RunLog;
  /** Decides what callers see of what the code of authors throws. Default: `start` and runs throw it as it is. */
  readonly errors?: ErrorPolicy;
  /** Trades what users answer to credential requests. */
  readonly credentials?: CredentialExchanger;
  /** Milliseconds each plugin and agent gets to close. Default 5,000. */
  readonly closeTimeoutMs?: number;
}

/** One run, not started yet: iterating it runs the agent, breaking off closes it. Iterate it once. */
export interface Run extends AsyncIterable<Event> {
  readonly invocationId: string;
}

/** What is particular about how a run begins. */
interface Opening {
  /** What the client of a live conversation sends. */
  readonly input?: AsyncIterable<LiveInput>;
  readonly onRefused?: LiveRunRequest['onRefused'];
  readonly options?: StartOptions | undefined;
}

/** What has to be let go of when a run is over, the span around it, and the client it talks with if it is live. */
interface Frame {
  readonly span: OpenSpan;
  readonly finish: (failure?: unknown) => Promise<void> | void;
  readonly live: LiveSession | undefined;
  readonly begins?: StartOptions['begins'];
}

/** Runs an app's agent for one user message, storing every whole event before handing it on. */
export class Runner {
  readonly #options: RunnerOptions;
  readonly #line: RunQueue;
  readonly #runConfigs = new WeakMap<App, RunConfig>();

  constructor(options: RunnerOptions) {
    checkPluginNames(options.plugins ?? []);
    this.#options = options;
    this.#line = options.queue ?? new LocalRunQueue(options.maxQueued);
  }

  /**
   * Resolves once it is this run's turn and the message is stored. Whatever is the caller's fault is thrown here,
   * before the first event: `app_not_found`, `session_not_found`, `session_busy`, `queue_full`, `invalid_request`.
   */
  start(request: RunRequest, signal: AbortSignal, options: StartOptions = {}): Promise<Run> {
    return this.#begin(request, signal, { options });
  }

  /**
   * Resolves once it is this run's turn: a conversation that lasts until `input` ends. Throws before the first event what
   * `start` throws. `input` has to end, or fail, when the run is over.
   */
  startLive(request: LiveRunRequest, input: AsyncIterable<LiveInput>, signal: AbortSignal): Promise<Run> {
    const runConfig: RunConfig = { ...request.runConfig, streamingMode: 'bidi' };
    const { onRefused, ...rest } = request;
    return this.#begin({ ...rest, runConfig, streaming: false }, signal, { input, onRefused });
  }

  async #begin(request: RunRequest, signal: AbortSignal, { input, onRefused, options }: Opening): Promise<Run> {
    const app = await this.#options.loader.loadAgent(request.appName);
    const release = this.#options.loader.retain?.(app);
    const runConfig = this.#runConfigFor(app, request.runConfig);
    const span = openSpan('invocation', 'invocation', rootTrace(this.#options.traces));
    let slot: RunSlot | undefined;
    const finish = (failure?: unknown): Promise<void> | void => {
      span.end();
      release?.();
      return slot?.release(failure);
    };
    try {
      const id = request.invocationId ?? `e-${randomUUID()}`;
      const policy = request.onBusy ?? this.#options.onBusy ?? 'queue';
      const createSession = runConfig.autoCreateSession ? () => this.#newSession(request, runConfig) : undefined;
      const arrival = { ...options, id, request: storableRequest(request), isLive: input !== undefined, createSession };
      slot = await this.#line.acquire(request, policy, signal, arrival);
      const services = this.#servicesOf(slot);
      if (slot.rollbackOf !== undefined) await rollBackRun(services, request, slot.rollbackOf);
      const found = await services.sessions.getSession(request);
      const session = found ? withoutRewound(found) : await this.#newSession(request, runConfig);
      if (isContinuation(request)) eventsAtStart(session.events, request.invocationId ?? '');
      if (request.stateDelta) previewStateDelta(request.stateDelta, session);
      slot.session = session;
      const ctx = this.#contextFor(app, session, { id, request, runConfig, services, slot, span });
      if (input) return this.#prepare(ctx, slot, { span, finish, live: new LiveSession(ctx, input, onRefused) });
      const userContent = await storeUserMessage(request, ctx);
      if (userContent) Object.assign(ctx, { userContent });
      return this.#prepare(ctx, slot, { span, finish, live: undefined, begins: options?.begins });
    } catch (error) {
      span.fail(error);
      const shown = this.#report(error);
      await finish(shown);
      throw shown;
    }
  }

  #report(error: unknown): unknown {
    return this.#options.errors?.report(error) ?? error;
  }

  /** Copies a session up to an event (default: all of it). Throws `session_not_found`, `event_not_found`, `session_exists`. */
  fork(key: SessionKey, request: ForkRequest): Promise<Session> {
    return forkSession(this.#options.services, key, request);
  }

  /** Takes a session back to before an invocation. Throws `session_busy` while it has a run, and what `fork` throws. */
  async rewind(key: SessionKey, invocationId: string): Promise<Session> {
    const slot = await this.#line.acquire(key, 'reject', new AbortController().signal);
    try {
      return await rewindSession(this.#servicesOf(slot), key, invocationId);
    } finally {
      await slot.release();
    }
  }

  /** Worked out once for the requests that say nothing of it, as most do. */
  #runConfigFor(app: App, request: RunConfig | undefined): RunConfig {
    const { runConfig: operator } = this.#options;
    if (request) return runConfigFor({ operator, app: app.runConfig, request });
    let usual = this.#runConfigs.get(app);
    if (!usual) this.#runConfigs.set(app, (usual = runConfigFor({ operator, app: app.runConfig })));
    return usual;
  }

  /** Closes the plugins and the loader, with it every agent that was loaded. Failures are collected and thrown together. */
  async close(): Promise<void> {
    const { plugins = [], loader, closeTimeoutMs = 5_000 } = this.#options;
    await closeAll([...plugins, { name: 'loader', close: () => loader.close() }], closeTimeoutMs);
  }

  #newSession(request: RunRequest, { autoCreateSession }: RunConfig): Promise<Session> {
    if (autoCreateSession) {
      return this.#options.services.sessions.createSession(request, { sessionId: request.sessionId });
    }
    throw new AppError('session_not_found', `Session not found: ${request.sessionId}`);
  }

  #servicesOf(slot: RunSlot): Services {
    const { services } = this.#options;
    return fencedServices(services, slot, slot.sessions ?? services.sessions);
  }

  #contextFor(
    app: App,
    session: Session,
    {
      id: invocationId,
      request,
      runConfig,
      services,
      slot,
      span,
    }: {
      id: string;
      request: RunRequest;
      runConfig: RunConfig;
      services: Services;
      slot: RunSlot;
      span: OpenSpan;
    },
  ): RunContext {
    const { models, plugins = [], log, errors, credentials } = this.#options;
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

  #prepare(ctx: RunContext, slot: RunSlot, frame: Frame): Run {
    const events = this.#events(ctx, slot, frame);
    // A run nobody ever iterates must not hold its session for ever.
    const abandon = (): void => void events.return(undefined).then(() => frame.finish(slot.signal.reason));
    slot.signal.addEventListener('abort', abandon, { once: true });
    return {
      invocationId: ctx.invocationId,
      [Symbol.asyncIterator]: () => {
        slot.signal.removeEventListener('abort', abandon);
        return events;
      },
    };
  }

  async *#events(
    ctx: RunContext,
    slot: RunSlot,
    { span, finish, live, begins }: Frame,
  ): AsyncGenerator<Event, void, void> {
    const limitMs = (!live && ctx.runConfig.timeoutMs) || Infinity;
    let timer: NodeJS.Timeout | undefined;
    let last: Event | undefined;
    let failureStored = false;
    let fragments = 0;
    let failure: unknown = leftEarly;
    let shown: unknown = leftEarly; // the failure as callers see it
    let late: AppError | undefined; // what a plugin's `afterRun` threw
    try {
      if (begins) await begins(ctx.signal);
      timer = startTimer(() => slot.abort(tooLong(limitMs)), limitMs);
      const isPlain = ctx.plugins.length === 0; // then there is nobody to wait for
      const answers = live?.events() ?? (isPlain ? runSelectedAgent(ctx) : runRootAgent(ctx));
      for await (const event of stopOnAbort(answers, ctx.signal)) {
        const kept = live ? live.store(event) : isPlain && event.partial ? event : store(event, ctx);
        last = kept instanceof Promise ? await kept : kept;
        slot.log?.append(last, live ? !Object.isFrozen(last) : last.partial === true);
        yield last;
        if (last.partial && (fragments += 1) % fragmentsAtOnce !== 0) continue;
        const due = yieldWhenDue();
        if (due) await due;
      }
      failure = shown = undefined;
      if (ctx.app.eventsCompaction) await this.#compact(ctx, span);
    } catch (error) {
      failure = error;
      shown = this.#report(error);
      const closing = await this.#close(ctx, last, { failure, shown });
      failureStored = true;
      if (closing) {
        slot.log?.append(closing);
        yield closing;
      }
      throw shown;
    } finally {
      clearTimeout(timer);
      if (failure !== undefined && !failureStored) {
        const closing = await this.#close(ctx, last, { failure, shown });
        if (closing) slot.log?.append(closing);
      }
      slot.log?.end(shown);
      if (failure !== undefined) span.fail(failure, ctx.errors?.detail(failure)?.where);
      if (ctx.plugins.length > 0) [late] = await callAll(ctx, 'afterRun', { context: ctx });
      const released = finish(shown);
      if (released) await released;
    }
    if (late) throw this.#report(late);
  }

  /** Tells the plugins of a failure and stores the event that ends the run; storing it is best effort. */
  async #close(
    ctx: RunContext,
    last: Event | undefined,
    { failure, shown }: { failure: unknown; shown: unknown },
  ): Promise<Event | undefined> {
    for (const err of await callAll(ctx, 'onRunError', { error: failure, context: ctx })) {
      ctx.log?.warn({ invocationId: ctx.invocationId, err }, 'a plugin failed');
    }
    const closing = failureEvent(ctx, last, shown);
    if (!closing) return undefined;
    return store(closing, ctx).catch(() => undefined);
  }

  /** History is shortened once the answer is out; a summary that fails is noted in the trace and tried again next time. */
  async #compact(ctx: RunContext, span: OpenSpan): Promise<void> {
    const { eventsCompaction, rootAgent } = ctx.app;
    if (!eventsCompaction || (!eventsCompaction.summarizer && rootAgent.model === undefined)) return;
    try {
      await compactAfterRun(
        ctx,
        eventsCompaction.summarizer ?? llmSummarizer(ctx.models.resolve(rootAgent.model ?? '')),
      );
    } catch (error) {
      span.set({ 'agent_server.compaction.error': errorText(error) });
    }
  }
}

/** The session as the run sees it: its events are the run's own copy, less what was rewound. */
function withoutRewound(session: Session): Session {
  return wasRewound(session) ? { ...session, events: [...activeEvents(session.events)] } : session;
}

/** Partial events between two looks at the clock: one costs as much as a tenth of such an event. */
const fragmentsAtOnce = 32;

/** Whether the message answers calls. */
const holdsAnswers = (message: RunRequest['newMessage']): boolean =>
  message?.parts?.some((part) => part.functionResponse !== undefined) ?? false;

/** A request that names an invocation and says nothing goes on with it where its events end. */
const isContinuation = (request: RunRequest): boolean =>
  request.invocationId !== undefined && request.newMessage === undefined;

/** Made once: most runs need none, and a stack costs more than all else a run does at its start. */
const leftEarly = new AppError('run_cancelled', 'The run was left before its end');

const tooLong = (ms: number): AppError => new AppError('timed_out', `The run took longer than ${ms} ms`);
