import { z } from 'zod';
import { corsHeaders } from '../http/deps.ts';
import { type DevelopmentPart, developmentParts, defaultParts } from '../http/surface.ts';
import { pluginNames } from '../plugins/registry.ts';
import { OnBusy } from '../schemas/run.ts';
import type { RetentionLimits } from '../services/retention.ts';
import { type ServiceKind, serviceUriFault } from '../services/service-uri.ts';
import { list, onOff, Origin, size, text, time, timeToLive, wholeNumber } from './config-values.ts';

// The one list of settings. Flags, environment names, the keys of agent-server.yaml, `--help` and the table in
// docs/configuration.md are all derived from it (src/app/settings.ts).

const surfaces = ['api', 'dev', ...developmentParts];

interface Naming {
  /** Absent: the key in kebab-case. */
  readonly flag?: string;
  /** Absent: AGENT_SERVER_ and the flag in capitals. */
  readonly env?: string;
  /** What stands for the value in `--help`. */
  readonly value?: string;
  /** The default in people's terms, where the value does not read well. */
  readonly shown?: string;
}

function setting<Schema extends z.ZodType>(schema: Schema, description: string, naming: Naming = {}): Schema {
  return schema.meta({ description, ...naming });
}

const serviceUri = (service: ServiceKind): z.ZodType<string> =>
  text('must be a URI such as memory:').check((ctx) => {
    const fault = serviceUriFault(service, ctx.value);
    if (fault !== undefined) ctx.issues.push({ code: 'custom', message: fault, input: ctx.value });
  });

const Cors = z.strictObject({
  mapping: setting(
    z.string().startsWith('/', { error: 'must start with "/"' }).default('/**'),
    'Paths pages of other origins may call: /** is all',
    { value: 'PATTERN' },
  ),
  origins: setting(list(Origin).default([]), 'Origins that may call; added to --allow-origin', { value: 'ORIGIN' }),
  methods: setting(
    list(text('must be a method').toUpperCase()).default(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']),
    'Methods they may use',
    { value: 'METHOD' },
  ),
  headers: setting(list(text('must be a header name')).default([...corsHeaders]), 'Request headers they may send', {
    value: 'HEADER',
  }),
  allowCredentials: setting(onOff().default(false), 'Whether they may send credentials'),
  maxAge: setting(wholeNumber(0).default(600), 'Seconds a browser may remember a preflight', { value: 'SECONDS' }),
});

export const Config = z.strictObject({
  port: setting(wholeNumber(0, 65_535).default(8080), 'Port to listen on; 0 takes a free one', {
    env: 'PORT',
    value: 'PORT',
  }),
  host: setting(text('must be an address').default('127.0.0.1'), 'Address to listen on', {
    env: 'HOST',
    value: 'HOST',
  }),
  agents: setting(text('must be a folder').default('agents'), 'Folder of the apps, one folder each', {
    env: 'AGENTS_DIR',
    value: 'DIR',
  }),
  buildOutput: setting(
    list(text('must be a folder')).default([]),
    'Folder compiled agents are built into; they are preferred to their sources (repeatable)',
    { value: 'DIR' },
  ),
  hotReload: setting(onOff().default(true), 'Whether edits of agents reach the next run'),
  dev: setting(onOff().default(false), 'Development mode: the builder of a web UI may write YAML apps'),
  surface: setting(
    list(z.enum(['api', 'dev', ...developmentParts], { error: `must be one of ${surfaces.join(', ')}` })).optional(),
    `What of the API is served besides what users of the apps need: nothing (api), all that development needs (dev), or parts of it: ${developmentParts.join(', ')} (repeatable)`,
    { value: 'PART', shown: 'dev on a loopback address, else api' },
  ),
  strictYaml: setting(onOff().default(false), 'Refuse unknown keys in YAML agents, which are warned of otherwise'),
  allowConfigStdioMcpServers: setting(
    onOff().default(false),
    'Whether YAML agents may have programs started as MCP servers',
    { env: 'ADK_ALLOW_CONFIG_STDIO_MCP_SERVERS' },
  ),
  allowConfigPrivateHosts: setting(
    onOff().default(false),
    'Whether YAML agents may name hosts of this machine and its network in development mode, where web UIs write them',
  ),
  allowConfigCredentials: setting(
    onOff().default(false),
    'Whether YAML agents may show the Google credential of this machine to others than Google, and in development mode at all',
  ),
  secret: setting(
    text('must be a text').min(32, { error: 'must be at least 32 characters long' }).optional(),
    'What sign-ins of users are signed with; servers that share users and no SQL database share it',
    { value: 'TEXT', shown: 'kept in the SQL database, or random' },
  ),
  plugins: setting(
    list(z.enum(pluginNames, { error: `must be one of ${pluginNames.join(', ')}` })).default([]),
    'Plugin for the runs of all apps (repeatable)',
    { flag: 'plugin', value: 'NAME' },
  ),
  cassettes: setting(
    text('must be a folder').optional(),
    'Folder the plugins record and replay keep to; without it a local server replays from anywhere',
    { value: 'DIR' },
  ),
  sessionService: setting(serviceUri('sessions').default('memory:'), 'Where sessions are kept', { value: 'URI' }),
  artifactService: setting(serviceUri('artifacts').default('memory:'), 'Where artifacts are kept', { value: 'URI' }),
  memoryService: setting(serviceUri('memories').default('memory:'), 'Where memories are kept', { value: 'URI' }),
  sessionTtl: setting(timeToLive().optional(), 'Time after its last event that a session is deleted, such as 30d', {
    value: 'TIME',
    shown: 'never',
  }),
  maxSessions: setting(wholeNumber(1).optional(), 'Sessions that are kept; those unused for longest go first', {
    value: 'COUNT',
    shown: 'no limit',
  }),
  sessionMemory: setting(
    size(1024 ** 4).optional(),
    'What sessions kept in memory may take together; more is refused with 507',
    { value: 'SIZE', shown: 'half of the heap limit' },
  ),
  artifactMemory: setting(
    size(1024 ** 4).optional(),
    'What artifacts kept in memory may take together; more is refused with 507',
    { value: 'SIZE', shown: 'a quarter of the heap limit' },
  ),
  artifactVersionTtl: setting(
    timeToLive().optional(),
    'Time after it was saved that a version of an artifact is deleted; the newest one stays',
    { value: 'TIME', shown: 'never' },
  ),
  maxArtifactVersions: setting(
    wholeNumber(1, 1_000_000).optional(),
    'Versions that are kept of each artifact, the newest ones',
    { value: 'COUNT', shown: 'no limit' },
  ),
  runTtl: setting(timeToLive().prefault('30d'), 'Time after its end that the record of a run is deleted', {
    value: 'TIME',
    shown: '30d',
  }),
  traceTtl: setting(timeToLive().optional(), 'Time after its last span that a trace is forgotten', {
    value: 'TIME',
    shown: 'never',
  }),
  maxTraceBytes: setting(
    size().default(64 * 1024 ** 2),
    'Memory for traces; the oldest traces go first, and long texts in them are cut',
    { value: 'SIZE', shown: '64mb' },
  ),
  maxSpans: setting(
    wholeNumber(1).default(50_000),
    'Spans of traces that are kept in memory; the oldest traces go first',
    {
      value: 'COUNT',
    },
  ),
  logLevel: setting(
    z
      .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
        error: 'must be trace, debug, info, warn, error, fatal or silent',
      })
      .default('info'),
    'Least level that is logged',
    { env: 'LOG_LEVEL', value: 'LEVEL' },
  ),
  allowOrigins: setting(list(Origin).default([]), 'Origin of pages that may use the server (repeatable)', {
    flag: 'allow-origin',
    value: 'ORIGIN',
  }),
  allowHosts: setting(
    list(text('must be a host name')).default([]),
    'Host name the server is reached by, besides this machine\u2019s own (repeatable)',
    { flag: 'allow-host', value: 'NAME' },
  ),
  cors: Cors.prefault({}),
  insecure: setting(onOff().default(false), 'Serve on an address others can reach, without authentication'),
  defaultApp: setting(text('must be the name of an app').optional(), 'App that requests mean which name none', {
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
    'File with prices of models, for the estimates of the web UI (YAML or JSON)',
    { value: 'FILE', shown: 'estimates for common models' },
  ),
  onBusy: setting(
    z.enum(OnBusy.options, { error: 'must be queue, reject, interrupt or rollback' }).default('queue'),
    'What a run does when its session already has one: queue, reject, interrupt or rollback',
    { value: 'POLICY' },
  ),
  maxQueuedRuns: setting(wholeNumber(0, 10_000).default(16), 'Runs that may wait for one session', { value: 'COUNT' }),
  maxBackgroundRuns: setting(
    wholeNumber(1, 1_000_000).optional(),
    'Runs without a connection of their own that may be at work at the same time; the others wait',
    { value: 'COUNT', shown: 'one for each 8 MB of the heap limit' },
  ),
  maxLlmCalls: setting(
    wholeNumber(0).optional(),
    'Model calls of one run; 0 is no limit. Apps and requests can only tighten it',
    { value: 'COUNT', shown: '500, or what the app says' },
  ),
  runTimeout: setting(
    time().optional(),
    'Time one run may take; 0 is no limit. Apps and requests can only tighten it',
    { value: 'TIME', shown: '10m, or what the app says' },
  ),
  toolTimeout: setting(
    time().optional(),
    'Time one tool call may take, unless the tool says otherwise; 0 is no limit. Apps and requests can only tighten it',
    { value: 'TIME', shown: '60s, or what the app says' },
  ),
  bodyLimit: setting(size().default(10 * 1024 ** 2), 'Largest request body', { value: 'SIZE', shown: '10mb' }),
  bodiesLimit: setting(
    size(1024 ** 4).optional(),
    'What request bodies above 16 KB may take together, from their arrival to the answer; more wait 15 seconds, then get 503',
    { value: 'SIZE', shown: 'a sixteenth of the heap limit' },
  ),
  artifactLimit: setting(size(1024 ** 5).default(2 * 1024 ** 3), 'Largest artifact that is streamed to its store', {
    value: 'SIZE',
    shown: '2gb',
  }),
  maxConnections: setting(wholeNumber(1).default(10_000), 'Connections at the same time', { value: 'COUNT' }),
  shutdownGrace: setting(time(3_600_000).default(5000), 'Time running runs get to end on shutdown', {
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

/** The parts of the API for development that are on. `--dev` asks for the builder by itself. */
export function developmentOf({ surface, host, dev }: Config): ReadonlySet<DevelopmentPart> {
  const builder: DevelopmentPart[] = dev ? ['builder'] : [];
  if (!surface) return new Set([...defaultParts(host), ...builder]);
  if (surface.includes('dev')) return new Set(developmentParts);
  return new Set([...surface.filter((part) => part !== 'api' && part !== 'dev'), ...builder]);
}
