import type { ActiveRuns } from './active-runs.ts';
import type { HttpDeps } from './deps.ts';
import type { LiveSockets } from './live/sockets.ts';
import type { Operation } from './operation.ts';
import { agentViewOperations } from './routes/agent-views.ts';
import { appOperations } from './routes/apps.ts';
import { artifactUploads } from './routes/artifact-content.ts';
import { artifactOperations } from './routes/artifacts.ts';
import { branchingOperations } from './routes/branching.ts';
import { builderOperations } from './routes/builder.ts';
import { capabilityOperations } from './routes/capabilities.ts';
import { devUiOperations } from './routes/dev-ui.ts';
import { evaluationRunOperations } from './routes/evaluation-runs.ts';
import { evaluationSetOperations } from './routes/evaluation-sets.ts';
import { graphOperations } from './routes/graphs.ts';
import { liveOperations } from './routes/live.ts';
import { memoryOperations } from './routes/memories.ts';
import { openApiOperations } from './routes/openapi.ts';
import { runOperations } from './routes/run.ts';
import { runResourceOperations } from './routes/runs.ts';
import { serverOperations } from './routes/server.ts';
import { sessionViewOperations } from './routes/session-views.ts';
import { sessionOperations } from './routes/sessions.ts';
import { testOperations } from './routes/tests.ts';
import { traceListOperations } from './routes/trace-list.ts';
import { traceOperations } from './routes/traces.ts';
import type { SseOptions } from './sse.ts';

export interface TableContext extends HttpDeps {
  readonly active: ActiveRuns;
  readonly sse: SseOptions;
  readonly live: LiveSockets;
  readonly idleBeats: number;
  readonly isClosing: () => boolean;
  readonly defaultApp: string | undefined;
  readonly artifactLimitBytes: number;
  readonly bodyLimitBytes: number;
}

/** Every operation of the API, each declared once with all its spellings. */
export function routeTable(context: TableContext): Operation[] {
  const operations: Operation[] = [
    ...appOperations(context.loader),
    ...agentViewOperations(context),
    ...sessionOperations(context),
    ...sessionViewOperations(context.services),
    ...branchingOperations(context.runner),
    ...runOperations(context),
    ...runResourceOperations(context),
    ...liveOperations(context),
    ...artifactOperations(context.services),
    ...artifactUploads(context),
    ...memoryOperations(context.services),
    ...traceOperations(context.traces),
    ...traceListOperations(context.traces),
    ...graphOperations({ loader: context.loader, sessions: context.services.sessions }),
    ...evaluationOperations(context),
    ...builderOperations(context),
    ...serverOperations(context),
    ...capabilityOperations(context, () => operations),
    ...devUiOperations(),
    ...openApiOperations(() => operations, context.version),
  ];
  return operations;
}

function evaluationOperations({ evaluations, active, sse }: TableContext): Operation[] {
  if (!evaluations) return [];
  return [
    ...evaluationSetOperations(evaluations),
    ...evaluationRunOperations({ evaluations, active, sse }),
    ...testOperations({ tests: evaluations.tests, active }),
  ];
}
