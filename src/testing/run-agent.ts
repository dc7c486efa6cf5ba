import { randomUUID } from 'node:crypto';
import type { Agent, App, Plugin } from '../core/runtime.ts';
import type { Services } from '../core/services.ts';
import { staticLoader } from '../loaders/static.ts';
import type { ModelRegistration } from '../models/registration.ts';
import { createModelRegistry } from '../models/registry.ts';
import { Runner } from '../runner/runner.ts';
import { type Content, type FunctionCall, textContent, textOf } from '../schemas/content.ts';
import { type Event, functionCalls, isFinalResponse } from '../schemas/event.ts';
import type { RunConfig } from '../schemas/run.ts';
import type { Session, State } from '../schemas/session.ts';
import { inMemoryServices } from './services.ts';

export interface RunAgentOptions {
  /** The initial state of the session; merged into the state of an existing session. */
  readonly state?: State;
  /** Default: `user`. */
  readonly userId?: string;
  /** Default: a new session. A session that exists in `services` is continued. */
  readonly sessionId?: string;
  /** Default: in memory, new for each run. */
  readonly services?: Services;
  /** Models by name. Other models need a key in `env`. */
  readonly models?: readonly ModelRegistration[];
  /** Keys of the models' providers. Default: none, so that a test calls no provider by accident. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly plugins?: readonly Plugin[];
  readonly runConfig?: RunConfig;
  readonly signal?: AbortSignal;
}

/** The outcome of a run. */
export interface AgentRun {
  /** In order, as a client gets them. */
  readonly events: readonly Event[];
  /** The text of the last final response; empty without one. */
  readonly text: string;
  /** All tool calls of the model. */
  readonly calls: readonly FunctionCall[];
  /** The session after the run. */
  readonly session: Session;
  /** Its state. */
  readonly state: State;
}

/**
 * Runs an agent, or the root agent of an app, as the server would. Throws the error of a rejected request; failures of the
 * agent are events with an `errorCode`.
 */
export async function runAgent(
  agent: Agent | App,
  message: string | Content,
  options: RunAgentOptions = {},
): Promise<AgentRun> {
  const { state, userId = 'user', sessionId = randomUUID(), services = inMemoryServices(), runConfig } = options;
  const app: App = 'rootAgent' in agent ? agent : { name: agent.name, rootAgent: agent };
  const key = { appName: app.name, userId, sessionId };
  const runner = new Runner({
    loader: staticLoader([app]),
    services,
    models: createModelRegistry({ env: options.env ?? {}, register: options.models ?? [] }),
    plugins: options.plugins ?? [],
  });
  const request = {
    ...key,
    streaming: false,
    newMessage: typeof message === 'string' ? textContent('user', message) : message,
    runConfig: { autoCreateSession: true, ...runConfig },
    ...(state && { stateDelta: state }),
  };
  const events = await Array.fromAsync(await runner.start(request, options.signal ?? new AbortController().signal));
  const session = await services.sessions.getSession(key);
  if (!session) throw new Error(`The run has deleted its session "${sessionId}"`);
  const answer = events.findLast((event) => isFinalResponse(event) && textOf(event.content) !== '');
  return { events, text: textOf(answer?.content), calls: events.flatMap(functionCalls), session, state: session.state };
}
