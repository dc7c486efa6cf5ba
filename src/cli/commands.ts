/** A flag of one command that is not a setting. */
export interface CommandFlag {
  readonly flag: string;
  /** The placeholder for the value in help; absent for switches. */
  readonly value?: string;
  readonly description: string;
}

export interface Command {
  readonly name: string;
  /** The command line after the program's name. */
  readonly usage: string;
  readonly summary: string;
  readonly flags: readonly CommandFlag[];
  /** Keys of the settings that its help shows; it accepts all others too. Absent: all. */
  readonly settings?: readonly string[];
  readonly maxOperands: number;
}

const running = [
  'agents',
  'buildOutput',
  'strictYaml',
  'plugins',
  'sessionService',
  'artifactService',
  'memoryService',
];

const stores = ['sessionService', 'artifactService', 'memoryService'];

/** All commands, the default first. */
export const commands: readonly Command[] = [
  {
    name: 'serve',
    usage: '[serve] [flags]',
    summary: 'Serves the agents of a folder over HTTP, server-sent events and a WebSocket.',
    flags: [],
    maxOperands: 0,
  },
  {
    name: 'run',
    usage: 'run <app> [flags]',
    summary: 'Chats with an app in the terminal: name an app of the agents folder, or give its folder.',
    flags: [
      { flag: 'message', value: 'TEXT', description: 'Send this message, print the answer and exit' },
      { flag: 'session', value: 'ID', description: 'Session to continue, or to create (default: a new one)' },
      { flag: 'user', value: 'ID', description: 'User to chat as (default: user)' },
      {
        flag: 'replay',
        value: 'DIR',
        description:
          'Folder of a recorded conversation: replays its user messages (spec.yaml) and its model and tool responses',
      },
    ],
    settings: running,
    maxOperands: 1,
  },
  {
    name: 'create',
    usage: 'create <name> [flags]',
    summary: 'Creates an app in the agents folder. It runs without an API key.',
    flags: [
      { flag: 'typescript', description: 'Create a TypeScript app (default without a terminal)' },
      { flag: 'yaml', description: 'Create a YAML app' },
    ],
    settings: ['agents'],
    maxOperands: 1,
  },
  {
    name: 'validate',
    usage: 'validate [dir] [flags]',
    summary: 'Loads every app of the agents folder, or of another, and lists errors. Exits with 1 if there are any.',
    flags: [{ flag: 'json', description: 'Print the result as JSON' }],
    settings: ['agents', 'buildOutput', 'strictYaml'],
    maxOperands: 1,
  },
  {
    name: 'eval',
    usage: 'eval <app> [set…] [flags]',
    summary: 'Runs evaluation sets of an app: all, those named, or files. Exits with 1 when a case does not pass.',
    flags: [
      { flag: 'case', value: 'IDS', description: 'Run these cases only (separated by commas)' },
      {
        flag: 'metrics',
        value: 'LIST',
        description: 'Apply these metrics, separated by commas (default: those of test_config.json)',
      },
      { flag: 'criteria', value: 'FILE', description: 'Apply the metrics in this file, written like test_config.json' },
      {
        flag: 'threshold',
        value: 'NUMBER',
        description: 'Threshold of every metric, or metric=NUMBER, separated by commas',
      },
      {
        flag: 'repeat',
        value: 'COUNT',
        description: 'Run each case this many times and report the spread of its scores',
      },
      { flag: 'concurrency', value: 'COUNT', description: 'Cases that run at the same time (default: 4)' },
      { flag: 'record', description: 'Record the responses of models, for --recorded' },
      { flag: 'recorded', description: 'Use recorded responses: the same every time, and free' },
      { flag: 'baseline', value: 'ID', description: 'Compare with this earlier result, or with "latest"' },
      { flag: 'junit', value: 'FILE', description: 'Write the results as a JUnit report' },
      { flag: 'json', value: 'FILE', description: 'Write the results as JSON (--json=- prints them)' },
    ],
    settings: running,
    maxOperands: 1_000,
  },
  {
    name: 'keys',
    usage: 'keys create|list|revoke [id] [flags]',
    summary: 'Makes, lists and revokes the API keys of callers. A new key is printed once, alone on standard output.',
    flags: [
      { flag: 'owner', value: 'TEXT', description: 'Person or program that gets the new key' },
      { flag: 'user', value: 'ID', description: 'User whom the caller is' },
      { flag: 'acts-for-users', description: 'Let the caller name any user in its requests' },
      {
        flag: 'roles',
        value: 'LIST',
        description: 'Roles of the caller, separated by commas: user, operator, developer, admin (default: user)',
      },
      { flag: 'apps', value: 'LIST', description: 'Apps the caller may use, separated by commas (default: all)' },
      { flag: 'limits', value: 'JSON', description: 'Limits of the caller, such as {"requestsPerMinute":100}' },
      { flag: 'expires', value: 'TIME', description: 'Time until the key expires, such as 90d (default: never)' },
      { flag: 'json', description: 'Print JSON' },
    ],
    settings: ['auth.keys', 'sessionService'],
    maxOperands: 2,
  },
  {
    name: 'migrate',
    usage: 'migrate [flags]',
    summary: 'Creates or updates the tables of the configured databases. "serve" does so too.',
    flags: [],
    settings: stores,
    maxOperands: 0,
  },
  {
    name: 'export',
    usage: 'export [file] [flags]',
    summary: 'Writes all sessions and their artifacts as JSON lines to a file, or to standard output.',
    flags: [],
    settings: stores,
    maxOperands: 1,
  },
  {
    name: 'import',
    usage: 'import [file] [flags]',
    summary: 'Reads an export from a file, or from standard input. Skips sessions that exist already.',
    flags: [
      {
        flag: 'from',
        value: 'URI',
        description:
          'Import from the Firestore of ADK for Java instead: firestore-adk://PROJECT/DATABASE?root=COLLECTION',
      },
    ],
    settings: stores,
    maxOperands: 1,
  },
  {
    name: 'gc',
    usage: 'gc [flags]',
    summary:
      'Deletes what exceeds the retention limits: sessions with their data, old artifact versions and run records.',
    flags: [{ flag: 'dry-run', description: 'Delete nothing; report what would be deleted' }],
    settings: [...stores, 'sessionTtl', 'maxSessions', 'artifactVersionTtl', 'maxArtifactVersions', 'runTtl'],
    maxOperands: 0,
  },
];
