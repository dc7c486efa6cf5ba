import type { ErrorPolicy } from '../base/error-policy.ts';
import type { ActiveRuns } from './active-runs.ts';
import type { HttpDeps } from './deps.ts';
import { type DevelopmentPart } from './development-parts.ts';
import type { CallerLimits } from './limits/caller-limits.ts';
import type { LimitFailures } from './limits/request-rate.ts';
import type { LiveSockets } from './live/sockets.ts';
import type { Operation } from './operation.ts';
import type { SseOptions } from './responses/sse.ts';
import { agentViewOperations, toolRunOperations } from './routes/agent-views.ts';
import { appInfoOperations, appOperations } from './routes/apps.ts';
import { artifactUploads } from './routes/artifact-content.ts';
import { artifactOperations } from './routes/artifacts.ts';
import { branchingOperations } from './routes/branching.ts';
import { builderOperations } from './routes/builder/builder.ts';
import { capabilityOperations } from './routes/capabilities.ts';
import { devUiOperations } from './routes/dev-ui.ts';
import { testOperations } from './routes/evaluation/app-tests.ts';
import { evaluationRunOperations } from './routes/evaluation/evaluation-runs.ts';
import { evaluationSetOperations } from './routes/evaluation/evaluation-sets.ts';
import { graphOperations } from './routes/graphs.ts';
import { liveOperations } from './routes/live.ts';
import { issuerLoginOperations, loginOperations } from './routes/login.ts';
import { memoryOperations } from './routes/memories.ts';
import { openApiOperations } from './routes/openapi.ts';
import { runOperations } from './routes/run.ts';
import { runResourceOperations } from './routes/runs.ts';
import { serverOperations } from './routes/server.ts';
import { sessionViewOperations } from './routes/session-views.ts';
import { sessionOperations } from './routes/sessions.ts';
import { traceListOperations } from './routes/trace-list.ts';
import { traceOperations } from './routes/traces.ts';
import { usageOperations } from './routes/usage.ts';
import { isOff, refusal, type Surface } from './surface.ts';

export interface TableContext extends HttpDeps {
  readonly active: ActiveRuns;
  readonly callerLimits: CallerLimits;
  readonly limitFailures: LimitFailures;
  readonly sse: SseOptions;
  readonly live: LiveSockets;
  readonly idleTicks: number;
  readonly isClosing: () => boolean;
  readonly errors: ErrorPolicy;
  readonly defaultApp: string | undefined;
  readonly artifactLimitBytes: number;
  readonly bodyLimitBytes: number;
  /** The parts for development that are on. */
  readonly development: ReadonlySet<DevelopmentPart>;
}

/** An operation and its surface. */
export interface Route extends Operation {
  readonly surface: Surface;
}

/**
 * Every operation of the API, each declared once with all its paths. Operations that are off respond with
 * `development_route_off`, and are missing from the API description and the capabilities.
 */
export function routeTable(context: TableContext): Route[] {
  const { loader, services, traces, evaluations, development, errors, login } = context;
  const served = (): Operation[] => routes.filter(({ surface }) => !isOff(surface, development));
  const routes: Route[] = [
    ...meantFor('api', [
      ...appOperations({ loader, errors }),
      ...sessionOperations({ ...context, evaluations: development.has('evaluation') ? evaluations : undefined }),
      ...sessionViewOperations(services),
      ...branchingOperations(context),
      ...runOperations(context),
      ...runResourceOperations(context),
      ...liveOperations(context),
      ...artifactOperations(services),
      ...artifactUploads(context),
      ...memoryOperations(services),
      ...usageOperations(context),
    ]),
    ...meantFor('app-details', [
      ...appInfoOperations(loader),
      ...agentViewOperations(loader),
      ...graphOperations({ loader, sessions: services.sessions }),
    ]),
    ...meantFor('tools', toolRunOperations(context)),
    ...meantFor('traces', [...traceOperations(traces), ...traceListOperations(traces)]),
    ...meantFor('evaluation', evaluationOperations(context)),
    ...meantFor('builder', builderOperations(context)),
    ...meantFor('public', [
      ...serverOperations(context),
      ...capabilityOperations(context, served),
      ...devUiOperations(login),
      ...(login
        ? [...loginOperations(login, context.limitFailures), ...issuerLoginOperations(login, context.log)]
        : []),
      ...openApiOperations(served, { version: context.version, callersKnown: context.authenticator !== undefined }),
    ]),
  ];
  return routes.map((route) => {
    const { surface } = route;
    return isOff(surface, development) ? { ...refusal(route, surface), surface } : route;
  });
}

const meantFor = (surface: Surface, operations: readonly Operation[]): Route[] =>
  operations.map((operation) => ({ ...operation, surface }));

function evaluationOperations({ evaluations, active, sse }: TableContext): Operation[] {
  if (!evaluations) return [];
  return [
    ...evaluationSetOperations(evaluations),
    ...evaluationRunOperations({ evaluations, active, sse }),
    ...testOperations({ tests: evaluations.tests, active }),
  ];
}
