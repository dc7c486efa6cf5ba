import { isLoopback } from '../base/addresses.ts';
import { type ErrorPolicy, errorPolicy } from '../base/error-policy.ts';
import { redactEnvironment } from '../base/redact.ts';
import type { Log } from '../core/log.ts';
import type { RunStore } from '../core/run-store.ts';
import type { AgentLoader, App, Plugin } from '../core/runtime.ts';
import type { ArtifactService, MemoryService, SessionService } from '../core/services.ts';
import { Evaluations } from '../evaluation/evaluations.ts';
import { showsThrown } from '../http/surface.ts';
import type { AuthenticateFunction } from '../identity/authenticate-function.ts';
import { agentFolders, manyFolders } from '../loaders/agent-folders.ts';
import type { AppFinder } from '../loaders/app-source.ts';
import { compiledFolders } from '../loaders/compiled.ts';
import { DirectoryLoader } from '../loaders/directory-loader.ts';
import { mergedLoader } from '../loaders/merged.ts';
import { staticLoader } from '../loaders/static.ts';
import type { ModelRegistration } from '../models/registration.ts';
import { createModelRegistry } from '../models/registry.ts';
import { pluginNamed } from '../plugins/registry.ts';
import { LocalRunQueue } from '../runner/queue/local-queue.ts';
import { Runner } from '../runner/runner.ts';
import { toolTrier } from '../runner/try-tool.ts';
import { LeasedRunQueue } from '../runs/cluster/leased-queue.ts';
import { RunService } from '../runs/run-service.ts';
import type { Budgets } from '../schemas/budget.ts';
import type { Prices } from '../schemas/prices.ts';
import { type Databases, type OpenedServices, openServices } from '../services/open-services.ts';
import { InMemoryUsage } from '../services/usage/in-memory.ts';
import { TraceRecorder } from '../telemetry/recorder.ts';
import type { AccessLimits } from '../tools/access-limits.ts';
import { credentialExchanger } from '../tools/auth/exchange.ts';
import { processSecret, type ServerSecret } from '../tools/auth/server-secret.ts';
import { isAuthConfigured } from './auth-config.ts';
import { type Config, developmentOf } from './config.ts';
import { googleFrom } from './google-env.ts';
import { loadPrices } from './prices.ts';

/** Everything that runs agents, without HTTP. The HTTP server and the terminal commands are built on it. */
export interface Engine {
  readonly apps: AppFinder;
  readonly loader: AgentLoader;
  readonly services: Pick<OpenedServices, 'sessions' | 'artifacts' | 'memories' | 'usage'>;
  /** Stores runs; absent if runs end with the process. */
  readonly runStore: OpenedServices['runs'];
  /** The databases of the services. Closed last. */
  readonly databases: Databases;
  readonly traces: TraceRecorder;
  readonly runner: Runner;
  readonly runs: RunService;
  readonly evaluations: Evaluations;
  /** What models cost, for estimates. */
  readonly prices: Prices;
  /** What the operator lets runs use. */
  readonly budgets: Budgets | undefined;
  readonly tryTool: ReturnType<typeof toolTrier>;
  /** The secret of this server and its replicas. */
  readonly secret: ServerSecret;
  /** Decides what callers see of what the code of authors throws. */
  readonly errors: ErrorPolicy;
}

export interface EngineOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /** Objects that a program hands in. Absent: everything is made from the settings. */
  readonly handedIn?: HandedIn | undefined;
  /** Whoever asks is the author, at a terminal: errors are shown in full, and need not be logged. */
  readonly isTerminal?: boolean;
}

/** What a program that embeds the server brings along, instead of or beside what settings can name. */
export interface HandedIn {
  /** Folders of apps, in the place of the setting `agents`; empty: no apps on disk. */
  readonly folders: readonly string[];
  /** Apps made in code. They come before apps of the same name on disk. */
  readonly apps: readonly App[];
  /** Stores in the place of those the settings name. The program closes them. */
  readonly sessions?: SessionService | undefined;
  readonly artifacts?: ArtifactService | undefined;
  readonly memories?: MemoryService | undefined;
  /** Plugins after those the settings name. */
  readonly plugins: readonly Plugin[];
  /** Models that are found before the built-in ones. */
  readonly models: readonly ModelRegistration[];
  /** A way to know callers, before those the settings name. */
  readonly authenticate?: AuthenticateFunction | undefined;
}

/** The engine a config stands for: the one place that picks implementations. */
export function composeEngine(config: Config, { env, log, handedIn, isTerminal = false }: EngineOptions): Engine {
  redactEnvironment(env);
  const callersKnown = knowsCallers(config, handedIn);
  const finders = (handedIn?.folders ?? [config.agents]).map((agents) => appFinder({ ...config, agents }));
  const apps = manyFolders(finders);
  const loader = loaderOf(finders, handedIn?.apps ?? [], config, log);
  const traces = new TraceRecorder({
    maxBytes: config.maxTraceBytes,
    maxSpans: config.maxSpans,
    maxTracesPerSecond: config.maxTracesPerSecond,
    ttlMs: config.traceTtl,
  });
  const opened = openServices({
    ...config,
    onConnectionLost: (error) => log.warn({ err: error }, 'a connection to the database was lost'),
    google: googleFrom(env),
    isInUse: (key) => queue.runsOf(key).length > 0,
    onEvicted: (key) => traces.forget(key),
  });
  const { databases } = opened;
  const services = {
    sessions: handedIn?.sessions ?? opened.sessions,
    artifacts: handedIn?.artifacts ?? opened.artifacts,
    memories: handedIn?.memories ?? opened.memories,
    usage: handedIn?.sessions ? new InMemoryUsage() : opened.usage,
  };
  const { sessions } = services;
  const store = handedIn?.sessions ? undefined : opened.runs;
  const { maxQueuedRuns: maxQueued } = config;
  const durable = store && { store, queue: new LeasedRunQueue({ store, sessions, maxQueued, log }) };
  const queue = durable?.queue ?? new LocalRunQueue(maxQueued);
  const errors = errorPolicy({
    showsThrown: isTerminal || (!callersKnown && showsThrown(config.host, developmentOf(config))),
    folders: [apps.base, process.cwd()],
    log: isTerminal ? undefined : log,
  });
  const prices = loadPrices(config.prices);
  const secret = secretOf(config, store);
  const environment = {
    loader,
    services,
    models: createModelRegistry({ env, register: handedIn?.models ?? [] }),
    plugins: [...pluginsFor(config, { log, callersKnown }), ...(handedIn?.plugins ?? [])],
    traces,
    log,
    errors,
    credentials: credentialExchanger(secret),
    runConfig: {
      maxLlmCalls: config.maxLlmCalls,
      toolTimeoutMs: config.toolTimeout,
      timeoutMs: config.runTimeout,
      ...(config.budgets && { budgets: config.budgets }),
    },
    prices,
  };
  const runner = new Runner({ ...environment, queue, onBusy: config.onBusy });
  const { runTtl: runTtlMs, maxBackgroundRuns } = config;
  const runs = new RunService({ runner, queue, services, log, durable, runTtlMs, maxBackgroundRuns });
  const folderOf = folderIn(apps, loader, handedIn?.folders ?? [config.agents]);
  const evaluations = new Evaluations({ ...environment, folderOf });
  const tryTool = toolTrier(environment);
  return {
    apps,
    loader,
    services,
    runStore: store,
    databases,
    traces,
    runner,
    runs,
    evaluations,
    prices,
    budgets: config.budgets,
    tryTool,
    secret,
    errors,
  };
}

/** What YAML agents may access. In development mode every user of the builder can write them. */
export const yamlAccessLimits = ({ dev, allowConfigPrivateHosts, allowConfigCredentials }: Config): AccessLimits => ({
  publicOnly: dev && !allowConfigPrivateHosts,
  machineCredential: allowConfigCredentials ? 'anywhere' : dev ? 'nowhere' : 'google',
});

/** The key that signs user sign-ins and seals the cookies of logins: configured, or generated once for the database, or for this process. */
function secretOf({ secret }: Config, store: RunStore | undefined): ServerSecret {
  if (secret !== undefined) return () => Promise.resolve(secret);
  if (!store) return processSecret;
  let kept: Promise<string> | undefined;
  return () => (kept ??= store.secret().catch(forgetting(() => (kept = undefined))));
}

/** Rethrows after `forget`, so that the next call tries again. */
const forgetting = (forget: () => void) => (error: unknown) => {
  forget();
  throw error;
};

/** Loads apps made in code, then those of each folder. */
function loaderOf(finders: readonly AppFinder[], apps: readonly App[], config: Config, log: Log): AgentLoader {
  const { hotReload, strictYaml: strict, allowConfigStdioMcpServers: allowStdioMcp } = config;
  const limits = yamlAccessLimits(config);
  const warn = (message: string): void => log.warn({ detail: message }, 'agent files');
  const loaders: AgentLoader[] = finders.map(
    (find) => new DirectoryLoader({ find, hotReload, strict, allowStdioMcp, limits, warn }),
  );
  if (apps.length > 0) loaders.unshift(staticLoader(apps));
  const [only] = loaders;
  return only && loaders.length === 1 ? only : mergedLoader(loaders);
}

/** The folder for the evaluation files of an app: beside its source, not in the build output. Works for broken apps too. */
function folderIn(
  apps: AppFinder,
  loader: AgentLoader,
  folders: readonly string[],
): (appName: string) => Promise<string | undefined> {
  return async (appName) => {
    const source = apps.find(appName);
    if (!source) return (await loader.loadAgent(appName)).folder; // made in code, or there is none
    for (const folder of folders) {
      const found = agentFolders(folder).find(appName);
      if (found) return found.folder;
    }
    return source.folder;
  };
}

/** Finds the apps of the agents folder. */
export function appFinder({ agents, buildOutput }: Pick<Config, 'agents' | 'buildOutput'>): AppFinder {
  if (buildOutput.length === 0) return agentFolders(agents);
  return compiledFolders({ sourceDir: agents, buildOutputDirs: buildOutput });
}

/** Whether the server knows its callers, by the settings or by a function of the program. */
export const knowsCallers = ({ auth }: Config, handedIn: Pick<HandedIn, 'authenticate'> | undefined): boolean =>
  handedIn?.authenticate !== undefined || isAuthConfigured(auth);

/**
 * The configured plugins. On a loopback address whose callers are authors, `replay` is always on: it affects only runs whose
 * state names a cassette, and reads no other files. Elsewhere it needs a folder (`--cassettes`).
 */
function pluginsFor(
  config: Config,
  { log, callersKnown }: { readonly log: Log; readonly callersKnown: boolean },
): Plugin[] {
  const { plugins, cassettes, host } = config;
  const names = new Set<string>(plugins);
  const isLocal = !callersKnown && isLoopback(host) && developmentOf(config).has('evaluation');
  if (cassettes !== undefined || isLocal) names.add('replay');
  const environment = { log, recordRoot: cassettes ?? '.', replayRoot: cassettes ?? (isLocal ? '/' : '.') };
  return [...names].map((name) => pluginNamed(name, environment));
}
