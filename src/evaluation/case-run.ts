import { randomUUID } from 'node:crypto';
import type { ErrorPolicy } from '../base/error-policy.ts';
import { AppError, describeError, errorText } from '../base/errors.ts';
import type { CredentialExchanger } from '../core/auth.ts';
import { withCallIds } from '../core/call-answers.ts';
import type { ModelRegistry } from '../core/model.ts';
import type { App, Plugin, RunLog } from '../core/runtime.ts';
import { recordKey, recordPlugin } from '../plugins/replay/record.ts';
import { replayKey, replayPlugin } from '../plugins/replay/replay.ts';
import { Runner } from '../runner/runner.ts';
import type { Content } from '../schemas/content.ts';
import type { EvalCase, Invocation } from '../schemas/eval-set.ts';
import type { Event } from '../schemas/event.ts';
import type { RunConfig } from '../schemas/run.ts';
import { evaluationPrefix, type Session, type SessionKey, type State } from '../schemas/session.ts';
import { InMemoryArtifacts } from '../services/artifacts/in-memory.ts';
import { InMemoryMemories } from '../services/memories/in-memory.ts';
import { InMemorySessions } from '../services/sessions/in-memory.ts';
import type { SpanSink } from '../telemetry/spans.ts';
import { invocationsOf, withoutOwnKeys } from './invocations.ts';
import type { NextMessage } from './simulated-user.ts';

/** What runs the agents of an evaluation: as the server's runs have it, but for the services. */
export interface AgentSurroundings {
  readonly models: ModelRegistry;
  /** Asked before the app's own; those that record and replay are left out: an evaluation has its own. */
  readonly plugins?: readonly Plugin[];
  readonly traces?: SpanSink;
  readonly log?: RunLog;
  readonly errors?: ErrorPolicy;
  readonly credentials?: CredentialExchanger;
  readonly runConfig?: RunConfig;
}

/** The cassette of a case, and whether it is made or played. */
export interface CaseTape {
  readonly mode: 'record' | 'recorded';
  /** The app's folder, and the cassette's below it. */
  readonly root: string;
  readonly dir: string;
}

export interface CaseRunOptions {
  readonly app: App;
  readonly evalCase: EvalCase;
  readonly next: NextMessage;
  readonly tape: CaseTape | undefined;
  readonly signal: AbortSignal;
}

/** What came of holding a conversation once. */
export interface CaseRun {
  readonly session: Session;
  readonly artifacts: InMemoryArtifacts;
  readonly invocations: readonly Invocation[];
  /** Why the conversation broke off, in the turn after the last whole one. */
  readonly errorMessage?: string;
}

const usualUser = 'test_user_id';

/**
 * Holds the conversation of a case. It has services of its own, so that cases know nothing of one another and change
 * nothing for the app's users. Throws only when the signal aborts or the session cannot be made.
 */
export async function runCase(surroundings: AgentSurroundings, options: CaseRunOptions): Promise<CaseRun> {
  const { next, signal } = options;
  const conversation = new Conversation(surroundings, options);
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
      return await conversation.end(inWords(error));
    }
  }
}

/** A session of its own, and the agent that talks in it. */
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
  #said = 0;

  constructor({ plugins = [], ...surroundings }: AgentSurroundings, options: CaseRunOptions) {
    const { app, evalCase, tape } = options;
    this.#options = options;
    const others = plugins.filter(({ name }) => name !== 'record' && name !== 'replay');
    this.#runner = new Runner({
      ...surroundings,
      services: this.#services,
      plugins: [...others, ...tapePlugins(tape)],
      loader: { listAgents: async () => [app.name], loadAgent: async () => app, close: async () => {} },
    });
    const userId = evalCase.sessionInput?.userId || usualUser;
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

  /** Runs the agent for one message. Gives what went wrong, when the model or the agent says that something did. */
  async say(message: Content): Promise<string | undefined> {
    const { tape, signal } = this.#options;
    const { events } = await this.#session();
    const newMessage = withCallIds({ ...message, role: message.role ?? 'user' }, events);
    const stateDelta = tapeState(tape, this.#said);
    this.#said += 1;
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
      session: { ...session, state: withoutOwnKeys(session.state), events: session.events.map(withoutTape) },
      artifacts: this.#services.artifacts,
      invocations: await this.turns(),
      ...(errorMessage !== undefined && { errorMessage }),
    };
  }

  async #session(): Promise<Session> {
    const session = await this.#services.sessions.getSession(this.#key);
    if (session) return session;
    throw new AppError('session_not_found', `Session "${this.#key.sessionId}" is gone`);
  }
}

function tapePlugins(tape: CaseTape | undefined): Plugin[] {
  if (!tape) return [];
  return [tape.mode === 'record' ? recordPlugin(tape) : replayPlugin(tape)];
}

function tapeState(tape: CaseTape | undefined, index: number): State | undefined {
  if (!tape) return undefined;
  const config = { dir: tape.dir, user_message_index: index, streaming_mode: 'none' };
  return { [tape.mode === 'record' ? recordKey : replayKey]: config };
}

/** The event without what it told the cassette: whoever goes on with the session talks with the agent itself. */
function withoutTape(event: Event): Event {
  const { stateDelta } = event.actions;
  if (!Object.hasOwn(stateDelta, recordKey) && !Object.hasOwn(stateDelta, replayKey)) return event;
  return { ...event, actions: { ...event.actions, stateDelta: withoutOwnKeys(stateDelta) } };
}

/** Who evaluates an agent runs its code: what went wrong is theirs to know. */
function inWords(error: unknown): string {
  return error instanceof AppError ? `${describeError(error).code}: ${errorText(error)}` : errorText(error);
}
