import { z } from 'zod';
import { corsHeaders } from '../http/deps.ts';
import { type DevelopmentPart, developmentParts, defaultParts } from '../http/development-parts.ts';
import { pluginNames } from '../plugins/registry.ts';
import { OnBusy } from '../schemas/run.ts';
import type { RetentionLimits } from '../services/retention.ts';
import { type ServiceKind, serviceUriFault } from '../services/service-uri.ts';
import { Auth } from './auth-config.ts';
import { budgets, list, onOff, Origin, setting, size, text, time, timeToLive, wholeNumber } from './config-values.ts';
import { Limits } from './limits-config.ts';

// The one list of settings. Flags, environment names, the keys of agent-server.yaml, `--help` and the table in
// docs/configuration.md are all derived from it (src/app/settings.ts).

const surfaces = ['api', 'dev', ...developmentParts];

const serviceUri = (service: ServiceKind): z.ZodType<string> =>
  text('must be a URI such as memory:').check((ctx) => {
    const fault = serviceUriFault(service, ctx.value);
    if (fault !== undefined) ctx.issues.push({ code: 'custom', message: fault, input: ctx.value });
  });

const Cors = z.strictObject({
  mapping: setting(
    z.string().startsWith('/', { error: 'must start with "/"' }).default('/**'),
    'Paths that pages of other origins may call; /** means all',
    { value: 'PATTERN' },
  ),
  origins: setting(list(Origin).default([]), 'Origins whose pages may call; added to --allow-origin', {
    value: 'ORIGIN',
  }),
  methods: setting(
    list(text('must be a method').toUpperCase()).default(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']),
    'Methods that pages of other origins may use',
    { value: 'METHOD' },
  ),
  headers: setting(
    list(text('must be a header name')).default([...corsHeaders]),
    'Request headers that they may send',
    {
      value: 'HEADER',
    },
  ),
  allowCredentials: setting(onOff().default(false), 'Whether they may send credentials'),
  maxAge: setting(wholeNumber(0).default(600), 'Seconds a browser may remember a preflight', { value: 'SECONDS' }),
});

export const Config = z.strictObject({
  port: setting(wholeNumber(0, 65_535).default(8080), 'Port to listen on; 0 picks a free one', {
    env: 'PORT',
    value: 'PORT',
  }),
  host: setting(text('must be an address').default('127.0.0.1'), 'Address to listen on', {
    env: 'HOST',
    value: 'HOST',
  }),
  agents: setting(text('must be a folder').default('agents'), 'Folder that holds the apps, one folder each', {
    env: 'AGENTS_DIR',
    value: 'DIR',
  }),
  buildOutput: setting(
    list(text('must be a folder')).default([]),
    'Folder with compiled agents; they are used instead of their sources (repeatable)',
    { value: 'DIR' },
  ),
  hotReload: setting(onOff().default(true), 'Load edited agents before the next run'),
  dev: setting(onOff().default(false), 'Development mode: the visual builder of a web UI may write YAML apps'),
  surface: setting(
    list(z.enum(['api', 'dev', ...developmentParts], { error: `must be one of ${surfaces.join(', ')}` })).optional(),
    `Routes to serve besides those that users of the apps need: none (api), all for development (dev), or some of ${developmentParts.join(', ')} (repeatable)`,
    { value: 'PART', shown: 'dev on a loopback address, else api' },
  ),
  strictYaml: setting(onOff().default(false), 'Refuse unknown keys in YAML agents instead of warning'),
  allowConfigStdioMcpServers: setting(onOff().default(false), 'Let YAML agents start programs as MCP servers', {
    env: 'ADK_ALLOW_CONFIG_STDIO_MCP_SERVERS',
  }),
  allowConfigPrivateHosts: setting(
    onOff().default(false),
    'Let YAML agents name hosts on this machine and its network in development mode, where a web UI may write them',
  ),
  allowConfigCredentials: setting(
    onOff().default(false),
    'Let YAML agents send the Google credential of this machine to hosts other than Google, and use it in development mode',
  ),
  secret: setting(
    text('must be a text').min(32, { error: 'must be at least 32 characters long' }).optional(),
    'Key that signs the state of user sign-ins; set the same one on servers that share users but no SQL database',
    { value: 'TEXT', shown: 'kept in the SQL database, or random' },
  ),
  plugins: setting(
    list(z.enum(pluginNames, { error: `must be one of ${pluginNames.join(', ')}` })).default([]),
    'Plugin to apply to the runs of all apps (repeatable)',
    { flag: 'plugin', value: 'NAME' },
  ),
  cassettes: setting(
    text('must be a folder').optional(),
    'Folder that the plugins record and replay are limited to; without it a local server replays from any folder',
    { value: 'DIR' },
  ),
  sessionService: setting(serviceUri('sessions').default('memory:'), 'Where to store sessions', { value: 'URI' }),
  artifactService: setting(serviceUri('artifacts').default('memory:'), 'Where to store artifacts', { value: 'URI' }),
  memoryService: setting(serviceUri('memories').default('memory:'), 'Where to store memories', { value: 'URI' }),
  sessionTtl: setting(timeToLive().optional(), 'Delete a session this long after its last event, such as 30d', {
    value: 'TIME',
    shown: 'never',
  }),
  maxSessions: setting(wholeNumber(1).optional(), 'Most sessions to keep; the least recently used are deleted first', {
    value: 'COUNT',
    shown: 'no limit',
  }),
  sessionMemory: setting(
    size(1024 ** 4).optional(),
    'Memory for all sessions of the memory: store; more is refused with 507',
    { value: 'SIZE', shown: 'half of the heap limit' },
  ),
  artifactMemory: setting(
    size(1024 ** 4).optional(),
    'Memory for all artifacts of the memory: store; more is refused with 507',
    { value: 'SIZE', shown: 'a quarter of the heap limit' },
  ),
  artifactVersionTtl: setting(
    timeToLive().optional(),
    'Delete a version of an artifact this long after it was saved; the newest one stays',
    { value: 'TIME', shown: 'never' },
  ),
  maxArtifactVersions: setting(wholeNumber(1, 1_000_000).optional(), 'Newest versions to keep of each artifact', {
    value: 'COUNT',
    shown: 'no limit',
  }),
  runTtl: setting(timeToLive().prefault('30d'), 'Delete the record of a run this long after its end', {
    value: 'TIME',
    shown: '30d',
  }),
  traceTtl: setting(timeToLive().optional(), 'Drop a trace this long after its last span', {
    value: 'TIME',
    shown: 'never',
  }),
  maxTraceBytes: setting(
    size().default(64 * 1024 ** 2),
    'Memory for traces; the oldest are dropped first, and long texts in them are cut',
    { value: 'SIZE', shown: '64mb' },
  ),
  maxSpans: setting(
    wholeNumber(1).default(50_000),
    'Most spans to keep in memory; the oldest traces are dropped first',
    {
      value: 'COUNT',
    },
  ),
  maxTracesPerSecond: setting(
    wholeNumber(1).default(500),
    'Most runs per second to record traces of, after a burst of twice as many; those beyond leave no trace',
    { value: 'COUNT' },
  ),
  logLevel: setting(
    z
      .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
        error: 'must be trace, debug, info, warn, error, fatal or silent',
      })
      .default('info'),
    'Lowest level to log',
    { env: 'LOG_LEVEL', value: 'LEVEL' },
  ),
  allowOrigins: setting(list(Origin).default([]), 'Origin whose pages may call the server (repeatable)', {
    flag: 'allow-origin',
    value: 'ORIGIN',
  }),
  allowHosts: setting(
    list(text('must be a host name')).default([]),
    'Host name under which the server accepts requests, besides those of this machine (repeatable)',
    { flag: 'allow-host', value: 'NAME' },
  ),
  cors: Cors.prefault({}),
  auth: Auth.prefault({}),
  limits: Limits.prefault({}),
  insecure: setting(onOff().default(false), 'Allow an address that others can reach, without authentication'),
  defaultApp: setting(text('must be the name of an app').optional(), 'App for requests that name none', {
    env: 'ADK_DEFAULT_APP_NAME',
    value: 'NAME',
    shown: 'none',
  }),
  devUi: setting(text('must be a folder').optional(), 'Folder of another web UI to serve under /dev-ui', {
    value: 'DIR',
    shown: 'the one that comes with the server',
  }),
  prices: setting(
    text('must be a file').optional(),
    'File with prices of models, for cost estimates in the web UI (YAML or JSON)',
    { value: 'FILE', shown: 'estimates for common models' },
  ),
  onBusy: setting(
    z.enum(OnBusy.options, { error: 'must be queue, reject, interrupt or rollback' }).default('queue'),
    'What a new run does when its session has an active one: queue, reject, interrupt or rollback',
    { value: 'POLICY' },
  ),
  maxQueuedRuns: setting(wholeNumber(0, 10_000).default(16), 'Most runs that may wait for one session', {
    value: 'COUNT',
  }),
  maxBackgroundRuns: setting(
    wholeNumber(1, 1_000_000).optional(),
    'Most background runs that are active at the same time; the others wait',
    { value: 'COUNT', shown: 'one for each 8 MB of the heap limit' },
  ),
  maxLlmCalls: setting(
    wholeNumber(0).optional(),
    'Most model calls of one run; 0 means no limit. Apps and requests can only lower it',
    { value: 'COUNT', shown: '500, or what the app says' },
  ),
  runTimeout: setting(
    time().optional(),
    'Longest time of one run; 0 means no limit. Apps and requests can only lower it',
    { value: 'TIME', shown: '10m, or what the app says' },
  ),
  toolTimeout: setting(
    time().optional(),
    'Longest time of one tool call, unless the tool sets its own; 0 means no limit. Apps and requests can only lower it',
    { value: 'TIME', shown: '60s, or what the app says' },
  ),
  budgets: setting(
    budgets().optional(),
    'What a run, a session, a user or an app a day may use, such as user-day.cost=5 (repeatable). Apps and requests can only lower it',
    { flag: 'budget', env: 'AGENT_SERVER_BUDGETS', value: 'BUDGET', shown: 'no budgets', kind: 'list' },
  ),
  bodyLimit: setting(size().default(10 * 1024 ** 2), 'Largest request body', { value: 'SIZE', shown: '10mb' }),
  bodiesLimit: setting(
    size(1024 ** 4).optional(),
    'Memory for all request bodies above 16 KB, from arrival to response; more wait up to 15 seconds, then get 503',
    { value: 'SIZE', shown: 'a sixteenth of the heap limit' },
  ),
  artifactLimit: setting(size(1024 ** 5).default(2 * 1024 ** 3), 'Largest artifact that can be streamed to its store', {
    value: 'SIZE',
    shown: '2gb',
  }),
  maxConnections: setting(wholeNumber(1).default(10_000), 'Most connections at the same time', { value: 'COUNT' }),
  shutdownGrace: setting(time(3_600_000).default(5000), 'Time for active runs to end on shutdown', {
    value: 'TIME',
    shown: '5s',
  }),
});
export type Config = z.output<typeof Config>;

/** What is kept, and for how long. */
export const retentionOf = (config: Config): RetentionLimits => ({
  sessionTtlMs: config.sessionTtl,
  maxSessions: config.maxSessions,
  artifactVersionTtlMs: config.artifactVersionTtl,
  maxArtifactVersions: config.maxArtifactVersions,
  runTtlMs: config.runTtl,
});

/** The development parts of the API that are on. `--dev` turns on the builder. */
export function developmentOf(
  { surface, host, dev }: Config,
  { callersKnown = false }: { readonly callersKnown?: boolean } = {},
): ReadonlySet<DevelopmentPart> {
  const builder: DevelopmentPart[] = dev ? ['builder'] : [];
  if (!surface) return new Set(callersKnown ? developmentParts : [...defaultParts(host), ...builder]);
  if (surface.includes('dev')) return new Set(developmentParts);
  return new Set([...surface.filter((part) => part !== 'api' && part !== 'dev'), ...builder]);
}
