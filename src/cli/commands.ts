/** A flag of one command: it belongs to the call, not to the settings. */
export interface CommandFlag {
  readonly flag: string;
  /** What stands for the value in help; absent for switches. */
  readonly value?: string;
  readonly description: string;
}

export interface Command {
  readonly name: string;
  /** What follows the program's name. */
  readonly usage: string;
  readonly summary: string;
  readonly flags: readonly CommandFlag[];
  /** Keys of the settings its help shows; all others are taken, too. Absent: all. */
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

/** What the program can do, the usual first. */
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
    summary: 'Talks with an app in the terminal: an app of the agents folder, or the folder of one.',
    flags: [
      { flag: 'message', value: 'TEXT', description: 'Send this message, print the answer and end' },
      { flag: 'session', value: 'ID', description: 'Session to go on with, or to create (default: a new one)' },
      { flag: 'user', value: 'ID', description: 'User to speak as (default: user)' },
      {
        flag: 'replay',
        value: 'DIR',
        description: 'Folder of a recorded conversation: models and tools answer as recorded, and its spec.yaml speaks',
      },
    ],
    settings: running,
    maxOperands: 1,
  },
  {
    name: 'create',
    usage: 'create <name> [flags]',
    summary: 'Makes a new app in the agents folder. It runs at once, without a key.',
    flags: [
      { flag: 'typescript', description: 'An app in TypeScript (usual where nobody can be asked)' },
      { flag: 'yaml', description: 'An app in YAML' },
    ],
    settings: ['agents'],
    maxOperands: 1,
  },
  {
    name: 'validate',
    usage: 'validate [dir] [flags]',
    summary: 'Loads every app of the agents folder, or of another, and shows what is wrong. Ends with 1 for any fault.',
    flags: [{ flag: 'json', description: 'Print the result as JSON' }],
    settings: ['agents', 'buildOutput', 'strictYaml'],
    maxOperands: 1,
  },
  {
    name: 'eval',
    usage: 'eval <app> [set…] [flags]',
    summary:
      'Runs evaluation sets of an app: all of them, those named, or files. Ends with 1 when a case does not pass.',
    flags: [
      { flag: 'case', value: 'IDS', description: 'Run these cases only, with commas between them' },
      {
        flag: 'metrics',
        value: 'LIST',
        description: 'Apply these metrics, with commas between them (default: those of test_config.json)',
      },
      { flag: 'criteria', value: 'FILE', description: 'Take the metrics of this file, written like test_config.json' },
      {
        flag: 'threshold',
        value: 'NUMBER',
        description: 'Threshold of every metric, or metric=NUMBER, with commas between them',
      },
      { flag: 'repeat', value: 'COUNT', description: 'Run each case so often and tell how the scores spread' },
      { flag: 'concurrency', value: 'COUNT', description: 'Cases that run at the same time (default: 4)' },
      { flag: 'record', description: 'Record what models answer, for --recorded' },
      { flag: 'recorded', description: 'Answer as recorded: the same every time, and free' },
      { flag: 'baseline', value: 'ID', description: 'Compare with this earlier result, or with "latest"' },
      { flag: 'junit', value: 'FILE', description: 'Write the outcome as a JUnit report' },
      { flag: 'json', value: 'FILE', description: 'Write the results as JSON (--json=- prints them)' },
    ],
    settings: running,
    maxOperands: 1_000,
  },
  {
    name: 'migrate',
    usage: 'migrate [flags]',
    summary: 'Makes or brings up to date the tables of the databases that services are kept in. Serving does it, too.',
    flags: [],
    settings: stores,
    maxOperands: 0,
  },
  {
    name: 'export',
    usage: 'export [file] [flags]',
    summary: 'Writes all sessions, with their artifacts, as lines of JSON to a file, or to standard output.',
    flags: [],
    settings: stores,
    maxOperands: 1,
  },
  {
    name: 'import',
    usage: 'import [file] [flags]',
    summary: 'Reads an export from a file, or from standard input. Sessions that are there already are left alone.',
    flags: [
      {
        flag: 'from',
        value: 'URI',
        description:
          'Read what ADK for Java has stored in Firestore instead: firestore-adk://PROJECT/DATABASE?root=COLLECTION',
      },
    ],
    settings: stores,
    maxOperands: 1,
  },
  {
    name: 'gc',
    usage: 'gc [flags]',
    summary:
      'Deletes what is beyond the limits: sessions with what belongs to them, old versions of artifacts, and runs.',
    flags: [{ flag: 'dry-run', description: 'Delete nothing; say what would go' }],
    settings: [...stores, 'sessionTtl', 'maxSessions', 'artifactVersionTtl', 'maxArtifactVersions', 'runTtl'],
    maxOperands: 0,
  },
];
