import { randomUUID } from 'node:crypto';
import type { ModelRequest } from '../../src/core/model.ts';
import type { Agent, RunContext, ToolContext } from '../../src/core/runtime.ts';
import type { Services } from '../../src/core/services.ts';
import { StateView } from '../../src/core/state.ts';
import type { Content } from '../../src/schemas/content.ts';
import { newActions } from '../../src/schemas/event.ts';
import { keyOf, type Session } from '../../src/schemas/session.ts';
import { InMemoryArtifacts } from '../../src/services/artifacts/in-memory.ts';
import { InMemoryMemories } from '../../src/services/memories/in-memory.ts';
import { InMemorySessions } from '../../src/services/sessions/in-memory.ts';

const nobody: Agent = { name: 'root', async *run() {} };

type ToolServices = Required<Omit<Services, 'usage'>>;

export const services = (): ToolServices => ({
  sessions: new InMemorySessions(),
  artifacts: new InMemoryArtifacts(),
  memories: new InMemoryMemories(),
});

/** A tool context as the flow makes one, on stores in memory. */
export function toolContext(
  options: { services?: ToolServices; session?: Session; message?: Content; signal?: AbortSignal } = {},
): ToolContext {
  const held = options.services ?? services();
  const session: Session = options.session ?? {
    id: 's1',
    appName: 'app',
    userId: 'ada',
    state: {},
    events: [],
    lastUpdateTime: 0,
  };
  const signal = options.signal ?? new AbortController().signal;
  const actions = newActions();
  const run: RunContext = {
    app: { name: 'app', rootAgent: nobody },
    agent: nobody,
    invocationId: 'e-1',
    session,
    services: held,
    plugins: [],
    models: {
      resolve() {
        throw new Error('No model here');
      },
      isConfigured: () => false,
    },
    runConfig: {},
    calls: { count: 0 },
    control: { ended: false },
    data: new Map(),
    trace: {},
    signal,
  };
  return {
    run,
    invocationId: run.invocationId,
    agentName: nobody.name,
    state: new StateView(session.state, actions.stateDelta),
    actions,
    session,
    data: run.data,
    signal,
    functionCallId: `adk-${randomUUID()}`,
    idempotencyKey: randomUUID(),
    ...(options.message && { userContent: options.message }),
    saveArtifact: (name, artifact, metadata) => held.artifacts.saveArtifact(keyOf(session), name, artifact, metadata),
    loadArtifact: (name, version) => held.artifacts.loadArtifact(keyOf(session), name, version),
    listArtifacts: () => held.artifacts.listArtifactKeys(keyOf(session)),
    searchMemory: (query) => held.memories.searchMemory(session, query),
    endInvocation: () => {
      run.control.ended = true;
    },
    requestConfirmation: () => {},
    requestCredential: (config) => {
      actions.requestedAuthConfigs[run.invocationId] = config;
    },
    getAuthResponse: () => undefined,
  };
}

export const modelRequest = (fields: Partial<ModelRequest> = {}): ModelRequest => ({
  model: 'gemini-2.5-flash',
  contents: [],
  config: {},
  stream: false,
  ...fields,
});
