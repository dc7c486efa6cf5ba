import { randomUUID } from 'node:crypto';
import { runSubAgent } from '../../src/agents/run-sub-agent.ts';
import { indexTree } from '../../src/agents/tree.ts';
import { withoutCredentials } from '../../src/core/events/credential-answers.ts';
import { newEvent } from '../../src/core/events/new-event.ts';
import type { ModelRegistry } from '../../src/core/model.ts';
import type { Agent, App, Plugin, RunContext } from '../../src/core/runtime.ts';
import type { ArtifactService, MemoryService } from '../../src/core/services.ts';
import type { Content } from '../../src/schemas/content.ts';
import type { Event } from '../../src/schemas/event.ts';
import type { RunConfig } from '../../src/schemas/run.ts';
import type { Session } from '../../src/schemas/session.ts';
import { InMemoryArtifacts } from '../../src/services/artifacts/in-memory.ts';
import { InMemoryMemories } from '../../src/services/memories/in-memory.ts';
import { InMemorySessions } from '../../src/services/sessions/in-memory.ts';
import { isLazy } from '../../src/telemetry/lazy-text.ts';
import { openTelemetry } from '../../src/telemetry/open-telemetry.ts';
import { rootTrace, type SpanRecord } from '../../src/telemetry/spans.ts';

interface Options {
  readonly state?: Record<string, unknown>;
  readonly history?: readonly Event[];
  readonly plugins?: readonly Plugin[];
  readonly app?: Partial<App>;
  readonly models?: ModelRegistry;
  readonly artifacts?: ArtifactService;
  readonly memories?: MemoryService;
}

interface Turn {
  readonly runConfig?: RunConfig;
  readonly signal?: AbortSignal;
  /** Another agent of the tree than the root. */
  readonly agent?: string;
  /** Goes on with the invocation before, without a new message. */
  readonly invocationId?: string;
  readonly context?: Partial<RunContext>;
}

/** Runs agents in a session the way a runner does, and nothing more: store the message, run, store each whole event. */
export class Conversation {
  readonly sessions = new InMemorySessions();
  readonly spans: SpanRecord[] = [];
  readonly log: unknown[] = [];
  readonly #root: Agent;
  readonly #options: Options;
  session: Session | undefined;

  constructor(root: Agent, options: Options = {}) {
    this.#root = root;
    this.#options = options;
  }

  /** One turn; resolves with its events, partial ones included. */
  async send(message: string | Content | undefined, turn: Turn = {}): Promise<Event[]> {
    const events: Event[] = [];
    for await (const event of this.stream(message, turn)) events.push(event);
    return events;
  }

  async *stream(message: string | Content | undefined, turn: Turn = {}): AsyncGenerator<Event, void, void> {
    const session = await this.#load();
    const said = typeof message === 'string' ? { role: 'user', parts: [{ text: message }] } : message;
    const { message: userContent, answers } = said ? withoutCredentials(said) : { message: undefined, answers: [] };
    const {
      plugins = [],
      models,
      artifacts = new InMemoryArtifacts(),
      memories = new InMemoryMemories(),
    } = this.#options;
    const agent = turn.agent === undefined ? this.#root : indexTree(this.#root).find(turn.agent)!;
    const ctx: RunContext = {
      invocationId: turn.invocationId ?? `e-${randomUUID()}`,
      agent,
      app: { name: 'test_app', rootAgent: this.#root, plugins, ...this.#options.app },
      session,
      services: { sessions: this.sessions, artifacts, memories },
      plugins,
      models: models ?? noModels,
      runConfig: turn.runConfig ?? {},
      calls: { count: 0 },
      control: { ended: false },
      data: new Map(),
      trace: rootTrace({ ended: (span) => this.spans.push(span) }, openTelemetry),
      signal: turn.signal ?? new AbortController().signal,
      log: { warn: (fields) => this.log.push(fields) },
      credentialAnswers: new Map(answers),
      ...(userContent && { userContent }),
      ...turn.context,
    };
    if (userContent) await this.sessions.appendEvent(session, newEvent(ctx, 'user', { content: userContent }));
    for await (const event of runSubAgent(agent, ctx)) {
      yield event.partial ? event : await this.sessions.appendEvent(session, event);
    }
  }

  async #load(): Promise<Session> {
    const { state = {}, history = [] } = this.#options;
    this.session ??= await this.sessions.createSession(
      { appName: 'test_app', userId: 'ann' },
      { state, events: history },
    );
    return this.session;
  }
}

const noModels: ModelRegistry = {
  resolve: (name) => {
    throw new Error(`no model "${name}" in this test`);
  },
  isConfigured: () => false,
};

/** The events in short: author and what they say, call, answer or change. */
export function summary(events: readonly Event[]): string[] {
  return events.map(
    (event) => `${event.author}: ${[...(event.content?.parts ?? []).map(partText), ...flags(event)].join(' + ')}`,
  );
}

const partText = (part: Content['parts'][number]): string => {
  if (part.functionCall) return `${part.functionCall.name}(${JSON.stringify(part.functionCall.args ?? {})})`;
  if (part.functionResponse)
    return `${part.functionResponse.name} -> ${JSON.stringify(part.functionResponse.response)}`;
  if (part.text !== undefined) return part.thought ? `(${part.text})` : part.text;
  return Object.keys(part).join(',');
};

const flags = (event: Event): string[] => [
  ...(event.partial ? ['partial'] : []),
  ...(event.errorCode === undefined ? [] : [`error ${event.errorCode}`]),
  ...(Object.keys(event.actions.stateDelta).length > 0 ? [`state ${JSON.stringify(event.actions.stateDelta)}`] : []),
];

/** The text of a value that a span makes when it is read. */
export function lateText(span: SpanRecord | undefined, name: string): string | undefined {
  const value = span?.attributes[name];
  return isLazy(value) ? value.text() : undefined;
}
