import { realpathSync } from 'node:fs';
import { buildApp } from '../http/app.ts';
import type { AppFinder } from '../loaders/app-source.ts';
import type { RunService } from '../runs/run-service.ts';
import { requestCountsAt } from '../services/open-services.ts';
import { keepCollecting, type RetentionLimits } from '../services/retention.ts';
import { parseServiceUri } from '../services/service-uri.ts';
import { type Config, developmentOf, retentionOf } from './config.ts';
import { composeEngine, type EngineOptions, yamlAccessLimits } from './engine.ts';
import { openAuthenticator } from './open-authenticator.ts';

export interface Composed {
  readonly app: Awaited<ReturnType<typeof buildApp>>;
  /** The apps on disk, for the list at the start. */
  readonly apps: AppFinder;
  /** Ends the runs, then releases everything. */
  close(): Promise<void>;
}

/** The kind of a store that a program hands in. */
const custom = 'custom';

export interface ComposeOptions extends EngineOptions {
  readonly version: string;
}

/** The server a config stands for. */
export async function compose(config: Config, options: ComposeOptions): Promise<Composed> {
  const { log, version, handedIn } = options;
  const { apps, databases, runStore, ...engine } = composeEngine(config, options);
  const { runner, runs } = engine;
  const closing = new AbortController();
  const callers = await openAuthenticator(config, {
    databases,
    log,
    closing: closing.signal,
    authenticate: handedIn?.authenticate,
    secret: engine.secret,
  });
  const app = await buildApp({
    ...engine,
    ...callers,
    version,
    log,
    requestCounts: handedIn?.sessions ? undefined : requestCountsAt(config.sessionService, databases),
    stores: {
      sessions: handedIn?.sessions ? custom : parseServiceUri('sessions', config.sessionService).kind,
      artifacts: handedIn?.artifacts ? custom : parseServiceUri('artifacts', config.artifactService).kind,
      memories: handedIn?.memories ? custom : parseServiceUri('memories', config.memoryService).kind,
    },
    config: httpConfigOf(config, apps, {
      agents: handedIn ? handedIn.folders[0] : config.agents,
      callersKnown: callers !== undefined,
    }),
  });
  runs.start();
  const collecting = new AbortController();
  const limits = retentionOf(config);
  const deleteIdle: RunService['deleteIdleSession'] = async (key, sinceTime) => {
    const isDeleted = await runs.deleteIdleSession(key, sinceTime);
    if (isDeleted) engine.traces.forget(key);
    return isDeleted;
  };
  const collected = keepCollecting({ ...engine.services, runs: runStore, deleteIdle }, limits, {
    everyMs: pauseFor(limits),
    signal: collecting.signal,
    onFailure: (error) => log.warn({ err: error }, 'retention clean-up failed'),
  });
  return {
    app,
    apps,
    close: async () => {
      collecting.abort();
      await collected;
      await app.close();
      closing.abort();
      await runner.close();
      await databases.close();
    },
  };
}

/** Milliseconds between two retention clean-ups: ten minutes, or the shortest time to live if that is less. */
function pauseFor({ sessionTtlMs, artifactVersionTtlMs, runTtlMs }: RetentionLimits): number {
  const lives = [sessionTtlMs, artifactVersionTtlMs, runTtlMs].map((ms) => ms ?? Infinity);
  return Math.max(10_000, Math.min(600_000, ...lives));
}

function httpConfigOf(
  config: Config,
  apps: AppFinder,
  { agents, callersKnown }: { readonly agents: string | undefined; readonly callersKnown: boolean },
): NonNullable<Parameters<typeof buildApp>[0]['config']> {
  return {
    host: config.host,
    allowHosts: config.allowHosts,
    allowOrigins: config.allowOrigins,
    cors: config.cors,
    bodyLimitBytes: config.bodyLimit,
    ...(config.bodiesLimit !== undefined && { bodiesLimitBytes: config.bodiesLimit }),
    artifactLimitBytes: config.artifactLimit,
    maxConnections: config.maxConnections,
    shutdownGraceMs: config.shutdownGrace,
    development: developmentOf(config, { callersKnown }),
    ...(config.dev &&
      agents !== undefined && { ...builderPlace(agents, apps), builderLimits: yamlAccessLimits(config) }),
    callerLimits: config.limits,
    failedAuthPerMinute: config.limits.failedAuthPerMinute,
    ...(config.limits.requestsPerMinute !== undefined && { requestsPerMinute: config.limits.requestsPerMinute }),
    ...(config.defaultApp !== undefined && { defaultApp: config.defaultApp }),
    ...(config.devUi !== undefined && { devUiDir: config.devUi }),
  };
}

/** Where the builder may write. If the agents folder is itself an app, the folders beside it belong to others. */
function builderPlace(agents: string, apps: AppFinder): { builderRoot: string; builderApp?: string } {
  const place = realpathSync.native(agents);
  const own = apps.list().find(({ folder }) => folder === place);
  return { builderRoot: apps.base, ...(own && { builderApp: own.name }) };
}
