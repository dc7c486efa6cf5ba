import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Config, developmentOf } from '../../src/app/config.ts';
import { parseCommandLine } from '../../src/cli/command-line.ts';
import { loadConfig } from '../../src/cli/load-config.ts';
import { developmentParts } from '../../src/http/development-parts.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'config-'));
});
afterEach(() => rmSync(cwd, { recursive: true }));

const load = (argv: string[] = [], env: Record<string, string> = {}): Config =>
  loadConfig({ line: parseCommandLine(argv, [{ name: 'serve', flags: [], maxOperands: 0 }]), env, cwd });
const file = (text: string, name = 'agent-server.yaml'): void => writeFileSync(join(cwd, name), text);

it('has defaults for everything', () => {
  expect(load()).toMatchObject({
    port: 8080,
    host: '127.0.0.1',
    agents: join(cwd, 'agents'),
    hotReload: true,
    sessionService: 'memory:',
    onBusy: 'queue',
    bodyLimit: 10 * 1024 * 1024,
    shutdownGrace: 5000,
    cors: { mapping: '/**', origins: [], allowCredentials: false, maxAge: 600 },
  });
});

it('prefers flags to the environment, and that to the file', () => {
  file('port: 1\nhost: 127.0.0.2\nlogLevel: warn\n');

  const config = load(['--port', '3'], { PORT: '2', HOST: '127.0.0.3' });

  expect(config).toMatchObject({ port: 3, host: '127.0.0.3', logLevel: 'warn' });
});

it('takes an empty environment variable for none', () => {
  expect(load([], { PORT: '', AGENTS_DIR: ' ' }).port).toBe(8080);
});

it('reads every spelling of a key, nested ones too', () => {
  file('body_limit: 2mb\nmax-llm-calls: 7\nshutdownGrace: 250ms\ncors:\n  allow_credentials: yes\n  maxAge: 5\n');

  expect(load()).toMatchObject({
    bodyLimit: 2 * 1024 * 1024,
    maxLlmCalls: 7,
    shutdownGrace: 250,
    cors: { allowCredentials: true, maxAge: 5, mapping: '/**' },
  });
});

it('takes paths of the file from its folder and those of flags from the current one', () => {
  file('agents: mine\n', 'other.yaml');

  expect(load(['--config', 'other.yaml']).agents).toBe(join(cwd, 'mine'));
  expect(load(['--agents', './x']).agents).toBe(join(cwd, 'x'));
  expect(load([], { AGENT_SERVER_CONFIG: 'other.yaml' }).agents).toBe(join(cwd, 'mine'));
});

it('splits lists at commas and adds repeated flags up', () => {
  expect(load([], { AGENT_SERVER_ALLOW_ORIGIN: 'https://a.example, http://b.example:81' }).allowOrigins).toEqual([
    'https://a.example',
    'http://b.example:81',
  ]);
  expect(load(['--cors-methods', 'get', '--cors-methods', 'post']).cors.methods).toEqual(['GET', 'POST']);
});

it.each([
  ['10s', 10_000],
  ['1.5m', 90_000],
  ['500ms', 500],
  ['3', 3000],
])('reads %s as a time', (text, ms) => {
  expect(load(['--run-timeout', text]).runTimeout).toBe(ms);
});

it('keeps runs for a month and all else for good, unless told otherwise', () => {
  expect(load([])).toMatchObject({ runTtl: 30 * 86_400_000, maxSpans: 50_000, maxTraceBytes: 64 * 1024 ** 2 });
  for (const key of ['sessionTtl', 'traceTtl', 'artifactVersionTtl', 'maxArtifactVersions'] as const) {
    expect(load([])[key]).toBeUndefined();
  }
  const env = { AGENT_SERVER_RUN_TTL: 'never', AGENT_SERVER_ARTIFACT_VERSION_TTL: '12h' };
  expect(load(['--session-ttl', ' Never '], env)).toMatchObject({ artifactVersionTtl: 43_200_000 });
  expect(load([], env).runTtl).toBeUndefined();
  expect(load(['--run-ttl', '1ms'], env).runTtl).toBe(1);
});

it.each([
  [['--port', '70000'], '--port must be a whole number from 0 to 65535, not "70000"'],
  [['--port', 'http'], '--port must be a whole number from 0 to 65535, not "http"'],
  [['--allow-origin', 'https://a.example/path'], '--allow-origin must be an origin'],
  [['--allow-origin', 'a.example'], '--allow-origin must be an origin'],
  [['--log-level', 'loud'], '--log-level must be trace, debug, info, warn, error, fatal or silent, not "loud"'],
  [['--body-limit', '10 apples'], '--body-limit must be a size such as 512kb or 10mb'],
  [['--run-timeout', 'soon'], '--run-timeout must be a time such as 500ms, 10s or 5m'],
  [['--run-ttl', 'a month'], '--run-ttl must be a time such as 30d, 12h or 10m, or never, not "a month"'],
  [['--trace-ttl=-1'], '--trace-ttl must be a time such as 30d'],
  [['--artifact-version-ttl', '1y'], '--artifact-version-ttl must be a time such as 30d'],
  [['--max-artifact-versions', '0'], '--max-artifact-versions must be a whole number from 1 to 1000000, not "0"'],
  [['--max-spans', '0'], '--max-spans must be a whole number, 1 or more, not "0"'],
  [['--session-service', 'mysql://x'], '--session-service must be a place for sessions'],
  [['--on-busy', 'panic'], '--on-busy must be queue, reject, interrupt or rollback'],
  [['--auth-jwt', '{"issuer":"https://a.example"}'], '--auth-jwt has a fault: "0.audience"'],
  [['--auth-trusted-proxy-addresses', 'proxy'], '--auth-trusted-proxy-addresses must be an IP address or a network'],
  [['--auth-trusted-proxy-roles-map', 'staff'], '--auth-trusted-proxy-roles-map'],
  [['--auth-trusted-proxy-default-roles', 'root'], '--auth-trusted-proxy-default-roles must be user, operator'],
  [['--hot-reload=maybe'], '--hot-reload must be on or off'],
  [['--config', 'none.yaml'], 'The configuration file "none.yaml" cannot be read'],
])('refuses %j', (argv, message) => {
  expect(() => load(argv)).toThrow(message);
});

it('reads who may call from flags, the environment and the file', () => {
  file(`
auth:
  keys: keys.json
  jwt:
    - issuer: https://login.example
      audience: agents
      claims: { user: email, roles: groups, roles_map: { staff: [operator, admin] } }
  trusted_proxy:
    addresses: [10.0.0.0/8, '::1']
    rolesMap: { staff: operator }
`);

  expect(load().auth).toMatchObject({
    keys: join(cwd, 'keys.json'),
    jwt: [
      {
        issuer: 'https://login.example',
        audience: ['agents'],
        clockTolerance: 30_000,
        claims: { user: 'email', rolesMap: { staff: ['operator', 'admin'] }, defaultRoles: ['user'] },
      },
    ],
    trustedProxy: {
      addresses: ['10.0.0.0/8', '::1'],
      userHeader: 'x-forwarded-user',
      rolesMap: { staff: ['operator'] },
    },
  });
  expect(load(['--auth-keys', 'database']).auth.keys).toBe('database');
  const issuer = '{"issuer":"https://b.example","audience":["x","y"],"claims":{"userPrefix":""}}';
  expect(load([], { AGENT_SERVER_AUTH_JWT: issuer }).auth.jwt).toMatchObject([{ audience: ['x', 'y'] }]);
  expect(load(['--auth-jwt', issuer, '--auth-jwt', issuer.replace('b.', 'c.')]).auth.jwt).toHaveLength(2);
  expect(
    load(['--auth-trusted-proxy-roles-map', 'staff=operator, staff=admin,x=user']).auth.trustedProxy.rolesMap,
  ).toEqual({
    staff: ['operator', 'admin'],
    x: ['user'],
  });
});

it('reads the limits of callers and apps from flags, the environment and the file', () => {
  file(`
limits:
  requestsPerMinute: 100
  apps:
    shop: { concurrent_runs: 10 }
`);

  expect(load().limits).toEqual({
    requestsPerMinute: 100,
    failedAuthPerMinute: 1_000,
    apps: { shop: { concurrentRuns: 10 } },
  });
  expect(load(['--limits-apps', '{"shop":{"queuedRuns":0}}']).limits.apps).toEqual({ shop: { queuedRuns: 0 } });
  expect(load([], { AGENT_SERVER_LIMITS_OPEN_STREAMS: '5' }).limits.openStreams).toBe(5);
  expect(() => load(['--limits-apps', 'shop'])).toThrow('must be limits by app');
  expect(() => load(['--limits-apps', '{"shop":{"runs":1}}'])).toThrow('runs');
});

it('names the variable that is wrong, and everything that is wrong', () => {
  expect(() => load(['--on-busy', 'x'], { PORT: 'x' })).toThrow(
    /^PORT must be a whole number from 0 to 65535, not "x"\n--on-busy must be/,
  );
});

it.each([
  ['prot: 1', 'agent-server.yaml:1:1: unknown setting "prot" (did you mean "port"?) in `prot: 1`'],
  ['port: x', 'agent-server.yaml:1:1: must be a whole number from 0 to 65535'],
  [
    'host: a\ncors:\n  orgins: []',
    'agent-server.yaml:3:3: unknown setting "cors.orgins" (did you mean "cors.origins"?)',
  ],
  ['cors: x', 'agent-server.yaml:1:1: must be a mapping of settings to values'],
  ['- 1', 'agent-server.yaml:1:1: must be a mapping of settings to values'],
  ['port: 1\nport: 2', 'agent-server.yaml:2:1: Map keys must be unique'],
  ['shutdownGrace: 1s\nshutdown-grace: 2s', 'agent-server.yaml:2:1: "shutdownGrace" is set twice'],
  ['cors:\n  origins: []\nCORS:\n  origins: []', 'agent-server.yaml:4:3: "cors.origins" is set twice'],
])('names the place in the file of %j', (text, message) => {
  file(text);

  expect(() => load()).toThrow(message);
});

it('takes an empty file for no settings', () => {
  file('# nothing yet\n');

  expect(load().port).toBe(8080);
});

it('offers what development needs on a loopback address, elsewhere what is named', () => {
  const offered = (...argv: string[]): string[] => [...developmentOf(load(argv))].toSorted();
  const exposed = ['--host', '0.0.0.0', '--insecure'];

  for (const host of ['127.0.0.1', '127.0.0.9', 'localhost', '::1']) {
    expect(offered('--host', host)).toEqual(developmentParts);
    expect(offered('--host', host, '--surface', 'api')).toEqual([]);
    expect(offered('--host', host, '--surface', 'api', '--dev')).toEqual(['builder']);
  }
  for (const host of ['0.0.0.0', '::', '192.168.1.5', 'example.com', '::ffff:127.0.0.1']) {
    expect(offered('--host', host, '--insecure')).toEqual([]);
  }
  expect(offered(...exposed, '--surface', 'dev')).toEqual(developmentParts);
  expect(offered(...exposed, '--surface', 'traces,import')).toEqual(['import', 'traces']);
  expect(offered(...exposed, '--surface', 'api', '--surface', 'traces')).toEqual(['traces']);
  file('surface: [tools]');
  expect(offered(...exposed)).toEqual(['tools']);
});

it('reads budgets from flags, the environment and the file alike', () => {
  const budgets = { run: { tokens: 1_000, wallTimeMs: 90_000 }, userDay: { cost: 2.5 } };

  expect(load().budgets).toBeUndefined();
  expect(load(['--budget', 'run.tokens=1000', '--budget', 'run.wall-time=90s,user-day.cost=2.50']).budgets).toEqual(
    budgets,
  );
  const env = { AGENT_SERVER_BUDGETS: 'run.tokens=5000, run.tokens=1000, run.wallTime=90s, userDay.cost=2.5' };
  expect(load([], env).budgets).toEqual(budgets);
  file('budgets:\n  run: { tokens: 1000, wall_time: 90s }\n  user_day:\n    cost: 2.5\n    tokens:\n');
  expect(load().budgets).toEqual(budgets);
});

it.each([
  ['day.tokens=5', 'must be budgets such as run.tokens=100000'],
  ['run.token=5', 'must be budgets such as'],
  ['run.tokens', 'must be budgets such as'],
  ['run.tokens=-5', 'run.tokens must be a whole number'],
  ['run.cost=1e3', 'run.cost must be an amount of US dollars'],
])('refuses the budget %s', (budget, message) => {
  expect(() => load(['--budget', budget])).toThrow(`--budget ${message}`);
});

it.each(['budgets: 5\n', 'budgets: { run: 5 }\n', 'budgets: { run: { tokens: many } }\n'])('refuses %j', (text) => {
  file(text);

  expect(() => load()).toThrow(/must be (?:budgets|a whole number)/);
});
