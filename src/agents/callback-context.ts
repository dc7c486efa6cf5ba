import { abortable, LinkedAbort } from '../base/abort.ts';
import { AppError } from '../base/errors.ts';
import { define, type JsonObject, toJson } from '../base/json.ts';
import type { LiveInput } from '../core/model.ts';
import type { CallbackContext, RunContext, ToolContext } from '../core/runtime.ts';
import type { ArtifactService } from '../core/services.ts';
import { StateView } from '../core/state.ts';
import type { Content, Part } from '../schemas/content.ts';
import { type EventActions, functionCalls, newActions, type ToolConfirmation } from '../schemas/event.ts';
import type { MemoryEntry } from '../schemas/records.ts';
import { keyOf, type ReadonlySession } from '../schemas/session.ts';
import { credentialOf } from './run-credentials.ts';

/** The context that the callbacks of one step share: their changes go into the actions of one event. */
export class CallbackContextImpl implements CallbackContext {
  readonly run: RunContext;
  readonly actions: EventActions;
  #state: StateView | undefined;

  constructor(run: RunContext, actions: EventActions = newActions()) {
    this.run = run;
    this.actions = actions;
  }

  get invocationId(): string {
    return this.run.invocationId;
  }

  get agentName(): string {
    return this.run.agent.name;
  }

  get state(): StateView {
    return (this.#state ??= new StateView(this.run.session.state, this.actions.stateDelta));
  }

  get userContent(): Content | undefined {
    return this.run.userContent;
  }

  get session(): ReadonlySession {
    return this.run.session;
  }

  get data(): Map<string, unknown> {
    return this.run.data;
  }

  get signal(): AbortSignal {
    return this.run.signal;
  }

  async saveArtifact(name: string, artifact: Part, metadata?: JsonObject): Promise<number> {
    const version = await this.#artifacts().saveArtifact(keyOf(this.session), name, artifact, metadata);
    define(this.actions.artifactDelta, name, version);
    return version;
  }

  async loadArtifact(name: string, version?: number): Promise<Part | undefined> {
    return this.#artifacts().loadArtifact(keyOf(this.session), name, version);
  }

  async listArtifacts(): Promise<string[]> {
    return this.#artifacts().listArtifactKeys(keyOf(this.session));
  }

  async searchMemory(query: string): Promise<MemoryEntry[]> {
    const { memories } = this.run.services;
    if (!memories) throw new AppError('not_supported', 'There is no memory service to search');
    return memories.searchMemory(this.session, query);
  }

  endInvocation(): void {
    this.run.control.ended = true;
  }

  #artifacts(): ArtifactService {
    const { artifacts } = this.run.services;
    if (!artifacts) throw new AppError('not_supported', 'There is no artifact service to keep files in');
    return artifacts;
  }
}

/** The context of one tool call. Its signal aborts with the run, and when the call is abandoned (timeout, cancellation). */
export class ToolCallContext extends CallbackContextImpl implements ToolContext {
  readonly functionCallId: string;
  readonly toolConfirmation?: ToolConfirmation;
  liveInput?: AsyncIterable<LiveInput>;
  #own: LinkedAbort | undefined;
  #abandoned: { readonly reason: unknown } | undefined;
  #saving: Set<Promise<number>> | undefined;

  constructor(run: RunContext, functionCallId: string, confirmation?: ToolConfirmation) {
    super(run);
    this.functionCallId = functionCallId;
    if (confirmation) this.toolConfirmation = confirmation;
  }

  /** Created on first use: most tools never read it. */
  override get signal(): AbortSignal {
    if (!this.#own) {
      this.#own = new LinkedAbort(this.run.signal);
      if (this.#abandoned) this.#own.abort(this.#abandoned.reason);
    }
    return this.#own.signal;
  }

  /** `invocationId:callId`: a provider's call ids may be unique within one invocation only. */
  get idempotencyKey(): string {
    const id = this.functionCallId;
    const holder = this.session.events.findLast((event) => functionCalls(event).some((call) => call.id === id));
    return `${holder?.invocationId ?? this.invocationId}:${id}`;
  }

  override saveArtifact(name: string, artifact: Part, metadata?: JsonObject): Promise<number> {
    if (this.#abandoned) return Promise.reject(this.#abandoned.reason);
    const saving = super.saveArtifact(name, artifact, metadata);
    const all = (this.#saving ??= new Set());
    const isOver = (): unknown => all.delete(saving);
    all.add(saving);
    saving.then(isOver, isOver);
    return saving;
  }

  override endInvocation(): void {
    if (this.#abandoned) throw this.#abandoned.reason;
    super.endInvocation();
    this.actions.endOfAgent = true;
  }

  requestConfirmation(request: { hint?: string; payload?: unknown } = {}): void {
    define(this.actions.requestedToolConfirmations, this.functionCallId, {
      hint: request.hint ?? '',
      confirmed: false,
      ...(request.payload === undefined ? {} : { payload: toJson(request.payload) }),
    });
  }

  requestCredential(authConfig: JsonObject): void {
    define(this.actions.requestedAuthConfigs, this.functionCallId, toJson(authConfig));
  }

  getAuthResponse(authConfig: JsonObject): JsonObject | undefined {
    return credentialOf(this.session, authConfig);
  }

  get isAbandoned(): boolean {
    return this.#abandoned !== undefined;
  }

  /** Aborts the tool's signal and freezes its actions: a tool that ignores the signal can change nothing any more. */
  abandon(reason: unknown): void {
    const { stateDelta, requestedAuthConfigs, requestedToolConfirmations } = this.actions;
    for (const changes of [this.actions, stateDelta, requestedAuthConfigs, requestedToolConfirmations]) {
      Object.freeze(changes);
    }
    this.#abandoned = { reason };
    this.#own?.abort(reason);
  }

  /**
   * A new context for the hooks that run after an abandoned tool, with the tool's changes so far. Waits until artifacts
   * that the tool was saving are saved, so that the event lists them.
   */
  async successor(): Promise<ToolCallContext> {
    await abortable(Promise.allSettled(this.#saving ?? []), this.run.signal);
    const next = new ToolCallContext(this.run, this.functionCallId, this.toolConfirmation);
    Object.assign(next.actions, structuredClone(this.actions));
    return next;
  }

  /** Stops listening to the run's signal. Call it when the call is over. */
  release(): void {
    this.#own?.[Symbol.dispose]();
  }
}

/** Whether the actions have an effect outside their agent and so need an event even without content. */
export function changesAnything(actions: EventActions): boolean {
  if (actions.escalate || actions.transferToAgent !== undefined) return true;
  const { stateDelta, artifactDelta, requestedAuthConfigs, requestedToolConfirmations } = actions;
  return [stateDelta, artifactDelta, requestedAuthConfigs, requestedToolConfirmations].some(
    (entries) => Object.keys(entries).length > 0,
  );
}
