import { randomUUID } from 'node:crypto';
import type { ErrorPolicy } from '../base/error-policy.ts';
import { AppError, describeError, errorText } from '../base/errors.ts';
import type { CredentialExchanger } from '../core/auth.ts';
import { withCallIds } from '../core/events/call-answers.ts';
import type { ModelRegistry } from '../core/model.ts';
import type { App, Plugin, RunLog } from '../core/runtime.ts';
import type { UsageStore } from '../core/usage-store.ts';
import { recordKey, recordPlugin } from '../plugins/replay/record.ts';
import { replayKey, replayPlugin } from '../plugins/replay/replay.ts';
import { Runner } from '../runner/runner.ts';
import type { Content } from '../schemas/content.ts';
import type { EvalCase, Invocation } from '../schemas/evaluation/eval-set.ts';
import type { Event } from '../schemas/event.ts';
import type { Prices } from '../schemas/prices.ts';
import type { RunConfig } from '../schemas/run.ts';
import { evaluationPrefix, type Session, type SessionKey, type State } from '../schemas/session.ts';
import { InMemoryArtifacts } from '../services/artifacts/in-memory.ts';
import { InMemoryMemories } from '../services/memories/in-memory.ts';
import { InMemorySessions } from '../services/sessions/in-memory.ts';
import type { SpanSink } from '../telemetry/spans.ts';
import { invocationsOf, withoutOwnKeys } from './invocations.ts';
import type { NextMessage } from './simulated-user.ts';

/** What the agents of an evaluation run with: the same as in the server's runs, except for the services. */
export interface AgentEnvironment {
  readonly models: ModelRegistry;
  /** Called before the app's plugins. Without `record` and `replay`: an evaluation has its own. */
  readonly plugins?: readonly Plugin[];
  readonly traces?: SpanSink;
  readonly log?: RunLog;
  readonly errors?: ErrorPolicy;
  readonly credentials?: CredentialExchanger;
  readonly runConfig?: RunConfig;
  /** For the budgets of runs: evaluations count like others. */
  readonly usage?: UsageStore | undefined;
  readonly prices?: Prices;
}

/** The cassette of a case, and whether to record or replay it. */
export interface CaseCassette {
  readonly mode: 'record' | 'recorded';
  /** The app's folder, and the cassette's folder below it. */
  readonly root: string;
  readonly dir: string;
}

export interface CaseRunOptions {
  readonly app: App;
  readonly evalCase: EvalCase;
  readonly next: NextMessage;
  readonly cassette: CaseCassette | undefined;
  readonly signal: AbortSignal;
}

/** The outcome of one conversation. */
export interface CaseRun {
  readonly session: Session;
  readonly artifacts: InMemoryArtifacts;
  readonly invocations: readonly Invocation[];
  /** Why the conversation failed, in the turn after the last complete one. */
  readonly errorMessage?: string;
}

const defaultUser = 'test_user_id';

/**
 * Runs the conversation of a case. It has its own services, so that cases do not affect each other or the app's users.
 * Throws only when the signal aborts or the session cannot be created.
 */
export async function runCase(environment: AgentEnvironment, options: CaseRunOptions): Promise<CaseRun> {
  const { next, signal } = options;
  const conversation = new Conversation(environment, options);
  await conversation.begin();
  for (;;) {
    signal.throwIfAborted();
    try {
      const message = await next(await conversation.turns());
      if (!message) return await conversation.end();
      const fault = await conversation.say(message);
      if (fault !== undefined) return await conversation.end(fault);
    } catch (error) {
      signal.throwIfAborted();
      return await conversation.end(describeFailure(error));
    }
  }
}

/** One conversation with an agent, in its own session. */
class Conversation {
  readonly #options: CaseRunOptions;
  readonly #services = {
    sessions: new InMemorySessions(),
    artifacts: new InMemoryArtifacts(),
    memories: new InMemoryMemories(),
  };
  readonly #runner: Runner;
  readonly #key: SessionKey;
  /** Seconds of each turn so far. */
  readonly #durations: number[] = [];
  #sentMessages = 0;

  constructor({ plugins = [], usage, ...environment }: AgentEnvironment, options: CaseRunOptions) {
    const { app, evalCase, cassette } = options;
    this.#options = options;
    const others = plugins.filter(({ name }) => name !== 'record' && name !== 'replay');
    this.#runner = new Runner({
      ...environment,
      services: { ...this.#services, ...(usage && { usage }) },
      plugins: [...others, ...cassettePlugins(cassette)],
      loader: { listAgents: async () => [app.name], loadAgent: async () => app, close: async () => {} },
    });
    const userId = evalCase.sessionInput?.userId || defaultUser;
    this.#key = { appName: app.name, userId, sessionId: evaluationPrefix + randomUUID() };
  }

  async begin(): Promise<void> {
    const state = withoutOwnKeys(this.#options.evalCase.sessionInput?.state ?? {});
    await this.#services.sessions.createSession(this.#key, { sessionId: this.#key.sessionId, state });
  }

  async turns(): Promise<Invocation[]> {
    const { events } = await this.#session();
    return invocationsOf(events).map((turn, index) => {
      const duration = this.#durations[index];
      return duration === undefined ? turn : { ...turn, duration };
    });
  }

  /** Runs the agent for one message. Returns the error of the last event, if it has one. */
  async say(message: Content): Promise<string | undefined> {
    const { cassette, signal } = this.#options;
    const { events } = await this.#session();
    const newMessage = withCallIds({ ...message, role: message.role ?? 'user' }, events);
    const stateDelta = cassetteState(cassette, this.#sentMessages);
    this.#sentMessages += 1;
    const request = { ...this.#key, newMessage, streaming: false, ...(stateDelta && { stateDelta }) };
    const begun = performance.now();
    let last: Event | undefined;
    for await (const event of await this.#runner.start(request, signal)) {
      signal.throwIfAborted();
      last = event;
    }
    this.#durations.push((performance.now() - begun) / 1000);
    return last?.errorCode === undefined ? undefined : `${last.errorCode}: ${last.errorMessage ?? ''}`;
  }

  async end(errorMessage?: string): Promise<CaseRun> {
    const session = await this.#session();
    return {
      session: { ...session, state: withoutOwnKeys(session.state), events: session.events.map(withoutCassetteState) },
      artifacts: this.#services.artifacts,
      invocations: await this.turns(),
      ...(errorMessage !== undefined && { errorMessage }),
    };
  }

  async #session(): Promise<Session> {
    const session = await this.#services.sessions.getSession(this.#key);
    if (session) return session;
    throw new AppError('session_not_found', `Session "${this.#key.sessionId}" does not exist any more`);
  }
}

function cassettePlugins(cassette: CaseCassette | undefined): Plugin[] {
  if (!cassette) return [];
  return [cassette.mode === 'record' ? recordPlugin(cassette) : replayPlugin(cassette)];
}

function cassetteState(cassette: CaseCassette | undefined, index: number): State | undefined {
  if (!cassette) return undefined;
  const config = { dir: cassette.dir, user_message_index: index, streaming_mode: 'none' };
  return { [cassette.mode === 'record' ? recordKey : replayKey]: config };
}

/** The event without the cassette's state keys, so that the session can be continued with the real agent. */
function withoutCassetteState(event: Event): Event {
  const { stateDelta } = event.actions;
  if (!Object.hasOwn(stateDelta, recordKey) && !Object.hasOwn(stateDelta, replayKey)) return event;
  return { ...event, actions: { ...event.actions, stateDelta: withoutOwnKeys(stateDelta) } };
}

/** The full error: clients that may evaluate an agent may run its code, so they may see it. */
function describeFailure(error: unknown): string {
  return error instanceof AppError ? `${describeError(error).code}: ${errorText(error)}` : errorText(error);
}
