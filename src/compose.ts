import type { Config } from './config.ts';
import type { Plugin } from './core/runtime.ts';
import { buildApp } from './http/app.ts';
import type { Log } from './http/deps.ts';
import { isLoopback } from './http/guards.ts';
import { agentFolders } from './loaders/agent-folders.ts';
import type { AppFinder } from './loaders/app-source.ts';
import { compiledFolders } from './loaders/compiled.ts';
import { DirectoryLoader } from './loaders/directory.ts';
import { createModelRegistry } from './models/registry.ts';
import { pluginNamed } from './plugins/registry.ts';
import { Runner } from './runner/runner.ts';
import { InMemoryArtifacts } from './services/artifacts/in-memory.ts';
import { InMemoryMemories } from './services/memories/in-memory.ts';
import { InMemorySessions } from './services/sessions/in-memory.ts';
import { TraceRecorder } from './telemetry/recorder.ts';
import { credentialExchanger } from './tools/auth/exchange.ts';

export interface Composed {
  readonly app: Awaited<ReturnType<typeof buildApp>>;
  /** The apps on disk, for the list at the start. */
  readonly apps: AppFinder;
  /** Ends the runs, then releases everything. */
  close(): Promise<void>;
}

export interface ComposeOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  readonly version: string;
}

/** The server a config stands for: the one place that picks implementations. */
export async function compose(config: Config, { env, log, version }: ComposeOptions): Promise<Composed> {
  const apps = config.buildOutput.length > 0 ? compiledFolders(placesOf(config)) : agentFolders(config.agents);
  const { hotReload, strictYaml: strict, allowConfigStdioMcpServers: allowStdioMcp } = config;
  const warn = (message: string): void => log.warn({ detail: message }, 'agent files');
  const loader = new DirectoryLoader({ find: apps, hotReload, strict, allowStdioMcp, warn });
  const services = {
    sessions: new InMemorySessions(),
    artifacts: new InMemoryArtifacts(),
    memories: new InMemoryMemories(),
  };
  const traces = new TraceRecorder();
  const runner = new Runner({
    loader,
    services,
    models: createModelRegistry({ env }),
    plugins: pluginsFor(config, log),
    traces,
    log,
    credentials: credentialExchanger,
    runConfig: {
      maxLlmCalls: config.maxLlmCalls,
      toolTimeoutMs: Math.max(1, config.toolTimeout),
      ...(config.runTimeout > 0 && { timeoutMs: config.runTimeout }),
    },
    onBusy: config.onBusy,
    maxQueued: config.maxQueuedRuns,
  });
  const app = await buildApp({ loader, services, runner, traces, version, log, config: httpConfigOf(config) });
  return {
    app,
    apps,
    close: async () => {
      await app.close();
      await runner.close();
    },
  };
}

/**
 * The plugins asked for. Replaying is always on where only this machine can ask for it: it concerns only runs whose
 * state names a cassette, and reads no file of another name. Elsewhere it takes a folder to keep to.
 */
function pluginsFor({ plugins, cassettes, host }: Config, log: Log): Plugin[] {
  const names = new Set<string>(plugins);
  if (cassettes !== undefined || isLoopback(host)) names.add('replay');
  const surroundings = { log, recordRoot: cassettes ?? '.', replayRoot: cassettes ?? (isLoopback(host) ? '/' : '.') };
  return [...names].map((name) => pluginNamed(name, surroundings));
}

function placesOf({ agents, buildOutput }: Config): { sourceDir: string; buildOutputDirs: readonly string[] } {
  return { sourceDir: agents, buildOutputDirs: buildOutput };
}

function httpConfigOf(config: Config): NonNullable<Parameters<typeof buildApp>[0]['config']> {
  return {
    host: config.host,
    allowHosts: config.allowHosts,
    allowOrigins: config.allowOrigins,
    cors: config.cors,
    bodyLimitBytes: config.bodyLimit,
    maxConnections: config.maxConnections,
    shutdownGraceMs: config.shutdownGrace,
    ...(config.defaultApp !== undefined && { defaultApp: config.defaultApp }),
    ...(config.devUi !== undefined && { devUiDir: config.devUi }),
  };
}
