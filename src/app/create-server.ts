import { resolve } from 'node:path';
import { didYouMean } from '../base/closest.ts';
import { AppError } from '../base/errors.ts';
import type { Log } from '../core/log.ts';
import type { Model } from '../core/model.ts';
import type { Agent, App, Plugin } from '../core/runtime.ts';
import type { ArtifactService, MemoryService, SessionService } from '../core/services.ts';
import type { AuthenticateFunction } from '../identity/authenticate-function.ts';
import { isFolder } from '../loaders/agent-folders.ts';
import type { ModelRegistration } from '../models/registration.ts';
import { placeUri } from '../services/service-uri.ts';
import { provideAgentImports } from './agent-imports.ts';
import { databaseKeys } from './auth-config.ts';
import { type Composed, compose } from './compose.ts';
import { Config } from './config.ts';
import { type HandedIn, knowsCallers } from './engine.ts';
import { hostFault, listen, urlOf } from './listen.ts';
import { createLog } from './log.ts';
import { settings } from './settings.ts';
import { ownVersion } from './version.ts';

/** A setting as a program writes it: typed, or as text where the configuration file takes text (`'10s'`, `'5mb'`). */
type Given<T> = T extends boolean | undefined
  ? T
  : T extends number | undefined
    ? T | string
    : T extends readonly (infer Item)[] | undefined
      ? readonly Given<Item>[]
      : T extends string | undefined
        ? T
        : { readonly [Key in keyof T]?: Given<T[Key]> };

type Settings = Omit<Config, 'agents' | 'sessionService' | 'artifactService' | 'memoryService' | 'plugins'>;

/**
 * What a server is made of: the settings of `docs/configuration.md` under the same names and with the same defaults, and
 * objects where a program has something of its own. Times without a unit are seconds, sizes bytes.
 */
export interface ServerOptions extends Readonly<{ [Key in keyof Settings]?: Given<Settings[Key]> | undefined }> {
  /** Agents and apps made in code, and folders of apps. */
  readonly agents: AgentsOption | readonly AgentsOption[];
  /** A URI (`sqlite:sessions.db`), or a store, which `close` leaves open. Default: memory. */
  readonly sessionService?: string | SessionService | undefined;
  readonly artifactService?: string | ArtifactService | undefined;
  readonly memoryService?: string | MemoryService | undefined;
  /** For the runs of all apps: plugins that come with the server by their names, or plugins of one's own. */
  readonly plugins?: readonly (string | Plugin)[] | undefined;
  /** Models of one's own, which agents find by their names before the built-in ones. */
  readonly models?: readonly (Model | ModelRegistration)[] | undefined;
  /** A way of the program to know callers, tried before those of `auth`. See docs/security.md. */
  readonly authenticate?: AuthenticateFunction | undefined;
  /** Where keys and addresses of the models' providers are read. Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Where the server logs; a pino logger fits. Default: JSON lines on stderr, from `logLevel` on. */
  readonly log?: Log | undefined;
}

/** A folder of apps (or of one), an agent, or an app with what belongs to it. An agent's app has its name. */
export type AgentsOption = string | Agent | App;

export interface AgentServer {
  /** Begins to accept connections, and gives the URL. Throws Node's error, such as `EADDRINUSE`, when it cannot. */
  listen(): Promise<string>;
  /** Lets the runs end (`shutdownGrace`), then releases everything that was not handed in. May be called again. */
  close(): Promise<void>;
  /** Where it listens, without a slash at its end. Throws before it does. */
  readonly url: string;
}

/**
 * A server in this process, which begins to serve with `listen`. It installs no handlers of signals or failures and
 * never ends the process: that is the program's. Throws ConfigurationException for options that make no sense.
 */
export function createServer(options: ServerOptions): AgentServer {
  const { env = process.env, log } = options;
  const handedIn = handedInBy(options);
  const config = configOf(options);
  const fault = hostFault(config, knowsCallers(config, handedIn));
  if (fault !== undefined) throw new AppError('ConfigurationException', fault);
  provideAgentImports();
  const start = async (): Promise<{ composed: Composed; url: string }> => {
    const composed = await compose(config, {
      env,
      log: log ?? createLog(config.logLevel, { isOwnProcess: false }),
      version: ownVersion(),
      handedIn,
    });
    try {
      const { address, port } = await listen(composed, config);
      return { composed, url: urlOf(address, port) };
    } catch (error) {
      await composed.close();
      throw error;
    }
  };
  let starting: ReturnType<typeof start> | undefined;
  let url: string | undefined;
  let closing: Promise<void> | undefined;
  return {
    async listen() {
      if (closing) throw new AppError('unavailable', 'The server is closed');
      ({ url } = await (starting ??= start()));
      return url;
    },
    close() {
      url = undefined;
      closing ??= Promise.resolve(starting).then(
        (started) => started?.composed.close(),
        () => {}, // it never listened, as `listen` has told
      );
      return closing;
    },
    get url() {
      if (url === undefined) throw new AppError('unavailable', 'The server does not listen: call listen() first');
      return url;
    },
  };
}

function handedInBy({ agents, plugins = [], models = [], authenticate, ...stores }: ServerOptions): HandedIn {
  const given: readonly unknown[] = Array.isArray(agents) ? agents : [agents];
  const folders = given.filter((one) => typeof one === 'string').map((folder) => resolve(folder));
  for (const folder of folders) {
    if (!isFolder(folder)) throw new AppError('ConfigurationException', `The agents folder "${folder}" does not exist`);
  }
  const store = <Store>(one: string | Store | undefined): Store | undefined =>
    typeof one === 'string' ? undefined : one;
  return {
    folders,
    apps: given.filter((one) => typeof one !== 'string').map(appOf),
    sessions: store(stores.sessionService),
    artifacts: store(stores.artifactService),
    memories: store(stores.memoryService),
    plugins: plugins.filter((plugin) => typeof plugin !== 'string'),
    models: models.map(registrationOf),
    authenticate,
  };
}

/** Throws ConfigurationException for what is neither an agent nor an app. */
function appOf(given: unknown): App {
  if (typeof given === 'object' && given !== null && 'name' in given && typeof given.name === 'string') {
    if ('rootAgent' in given) return given as App;
    if ('run' in given) return { name: given.name, rootAgent: given as Agent };
  }
  throw new AppError('ConfigurationException', '"agents" takes folders, agents and apps');
}

function registrationOf(model: Model | ModelRegistration): ModelRegistration {
  if ('pattern' in model) return model;
  return { pattern: model.name.replaceAll(/[^\w\s]/g, String.raw`\$&`), create: () => model };
}

/** Checks the options as the configuration file is checked. Throws ConfigurationException with every fault. */
function configOf(options: ServerOptions): Config {
  const rest = Object.fromEntries(Object.entries(options).filter(([key]) => !programOptions.includes(key)));
  const path = (given: unknown): unknown => (typeof given === 'string' ? resolve(given) : given);
  const uri = (given: unknown): unknown => (typeof given === 'string' ? placeUri(given, process.cwd()) : undefined);
  const { buildOutput } = options;
  const result = Config.safeParse({
    ...rest,
    sessionService: uri(options.sessionService),
    artifactService: uri(options.artifactService),
    memoryService: uri(options.memoryService),
    plugins: options.plugins?.filter((plugin) => typeof plugin === 'string'),
    buildOutput: Array.isArray(buildOutput) ? buildOutput.map(path) : buildOutput,
    cassettes: path(options.cassettes),
    devUi: path(options.devUi),
    prices: path(options.prices),
    auth: withPlacedKeys(options.auth),
  });
  if (result.success) return result.data;
  const problems = result.error.issues.flatMap((issue) => {
    const place = issue.path.join('.');
    if (issue.code !== 'unrecognized_keys') return [`"${place}" ${issue.message}`];
    return issue.keys.map((key) => {
      const name = [...issue.path, key].join('.');
      return `unknown option "${name}"${didYouMean(name, knownOptions)}`;
    });
  });
  throw new AppError('ConfigurationException', `createServer: ${problems.join('; ')}`);
}

function withPlacedKeys(auth: ServerOptions['auth']): unknown {
  const { keys } = auth ?? {};
  return keys === undefined || keys === databaseKeys ? auth : { ...auth, keys: resolve(keys) };
}

/** Options that are no settings, or mean something else there. */
const programOptions: readonly string[] = ['agents', 'models', 'authenticate', 'env', 'log'];
const knownOptions = [...new Set(settings.flatMap(({ path, key }) => [path[0] ?? '', key])), ...programOptions];
