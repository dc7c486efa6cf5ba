import { createReadStream, createWriteStream } from 'node:fs';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Config, retentionOf } from '../app/config.ts';
import { googleFrom } from '../app/google-env.ts';
import { AppError, errorText } from '../base/errors.ts';
import { redact } from '../base/redact.ts';
import { LocalRunQueue } from '../runner/queue/local-queue.ts';
import { BackgroundRuns } from '../runs/background-runs.ts';
import { LeasedRunQueue } from '../runs/cluster/leased-queue.ts';
import { SessionDeletion } from '../runs/session-deletion.ts';
import type { Session } from '../schemas/session.ts';
import { exportLines, type Imported, importLines, importSessions } from '../services/archive.ts';
import { FirestoreDatabase } from '../services/firestore/database.ts';
import { javaSessions, parseJavaPlace } from '../services/firestore/java-sessions.ts';
import { type OpenedServices, openServices } from '../services/open-services.ts';
import { type Collected, collectGarbage, isArchive } from '../services/retention.ts';
import { parseServiceUri } from '../services/service-uri.ts';
import { cloudToken } from '../tools/auth/machine-token.ts';
import { UsageError } from './usage-error.ts';

export interface MaintenanceOptions {
  /** `migrate`, `export`, `import` or `gc`. */
  readonly command: string;
  /** A file. */
  readonly operand: string | undefined;
  /** Whether to delete nothing and only count. */
  readonly isTrial: boolean;
  /** Where to import from, if not from a file. */
  readonly from?: string | undefined;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Runs `migrate`, `export`, `import` or `gc`. Resolves with the exit code. Throws UsageError for in-memory stores. */
export async function runMaintenance(config: Config, options: MaintenanceOptions): Promise<number> {
  const stopped = new AbortController();
  const stop = (): void => stopped.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  let services: OpenedServices | undefined;
  try {
    services = openServices({ ...config, google: googleFrom(options.env) });
    await act(services, config, { ...options, signal: stopped.signal });
    return 0;
  } catch (error) {
    if (stopped.signal.aborted) return 130;
    if (isFileFault(error)) throw new UsageError(errorText(error));
    if (isCode(error, ['EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'])) return 0; // the reader of the pipe closed it
    if (isCode(error, ['ENOSPC', 'EIO', 'EFBIG'])) {
      say(errorText(error));
      return 1;
    }
    if (!(error instanceof AppError)) throw error;
    say(`${errorText(error)}${error.cause === undefined ? '' : `: ${errorText(error.cause)}`}`);
    return 1;
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    await services?.databases.close();
  }
}

async function act(
  services: OpenedServices,
  config: Config,
  { command, operand, isTrial, from, cwd, signal }: MaintenanceOptions & { signal: AbortSignal },
): Promise<void> {
  const { sessions, artifacts, memories } = services;
  const file = operand === undefined || operand === '-' ? undefined : resolve(cwd, operand);
  if (command === 'migrate') {
    for (const service of [sessions, artifacts, memories]) await service.check?.();
    const places = new Set([config.sessionService, config.artifactService, config.memoryService]);
    places.delete('memory:');
    for (const uri of places) say(`${redact(uri)} is up to date`);
    return;
  }
  if (command === 'gc') return collect(services, config, { signal, isTrial });
  if (!isArchive(sessions)) {
    throw new UsageError(`${config.sessionService} stores nothing permanently: name a database with --session-service`);
  }
  if (command === 'export') {
    const target = file === undefined ? process.stdout : createWriteStream(file, { mode: 0o600 });
    let sessionCount = 0;
    const lines = async function* (): AsyncGenerator<string, void, void> {
      for await (const line of exportLines(sessions, artifacts)) {
        if (line.startsWith('{"session"')) sessionCount += 1;
        yield line;
      }
    };
    await pipeline(lines, target, { signal, end: file !== undefined });
    say(`${sessionCount} sessions written`);
    return;
  }
  if (command === 'import' && from !== undefined) {
    if (file !== undefined) throw new UsageError('Import from a file or from another store: not both');
    say(imported(await importFrom(services, from, signal)));
    return;
  }
  const source = file === undefined ? process.stdin : createReadStream(file);
  const done = await importLines(linesOf(source.setEncoding('utf8')), sessions, artifacts);
  const isKept = parseServiceUri('artifacts', config.artifactService).kind !== 'memory';
  say(imported(isKept ? done : { ...done, artifacts: 0 }));
  if (!isKept && done.artifacts > 0) {
    say(
      `warning: ${done.artifacts} artifacts were not imported, because --artifact-service names no permanent store: name one and import again into an empty session store`,
    );
  }
}

/** Deletes what exceeds the limits, and reports the number of each kind. */
async function collect(
  services: OpenedServices,
  config: Config,
  options: { signal: AbortSignal; isTrial: boolean },
): Promise<void> {
  const limits = retentionOf(config);
  const hasSessions = isArchive(services.sessions);
  const hasVersions = parseServiceUri('artifacts', config.artifactService).kind !== 'memory';
  if (!hasSessions && !hasVersions) {
    throw new UsageError('There is no permanent store: name one with --session-service or --artifact-service');
  }
  const { sessionTtlMs, maxSessions, artifactVersionTtlMs, maxArtifactVersions, runTtlMs } = limits;
  const isLimited = {
    sessions: hasSessions && (sessionTtlMs ?? maxSessions) !== undefined,
    versions: hasVersions && (artifactVersionTtlMs ?? maxArtifactVersions) !== undefined,
    runs: services.runs !== undefined && runTtlMs !== undefined,
  };
  if (!Object.values(isLimited).includes(true)) {
    throw new UsageError(
      `No limit is set: give ${[
        ...(hasSessions ? ['--session-ttl', '--max-sessions'] : []),
        ...(hasVersions ? ['--artifact-version-ttl', '--max-artifact-versions'] : []),
      ].join(' or ')}`,
    );
  }
  const leased = services.runs && new LeasedRunQueue({ store: services.runs, sessions: services.sessions });
  const deletion = new SessionDeletion({
    queue: leased ?? new LocalRunQueue(),
    services,
    background: new BackgroundRuns(),
  });
  const deleteIdle: SessionDeletion['deleteIdle'] = (key, sinceTime) => deletion.deleteIdle(key, sinceTime);
  try {
    report(await collectGarbage({ ...services, deleteIdle }, limits, options), isLimited, options.isTrial);
  } finally {
    leased?.close();
    await services.runs?.close();
  }
}

function report(
  { sessions, versions, runs }: Collected,
  isLimited: { sessions: boolean; versions: boolean; runs: boolean },
  isTrial: boolean,
): void {
  const done = `${isTrial ? 'would be ' : ''}deleted`;
  if (isLimited.sessions) say(`${sessions.length} sessions ${done}`);
  if (isLimited.versions) say(`${versions} versions of artifacts ${done}`);
  if (isLimited.runs) say(`${runs} runs ${done}`);
}

const imported = ({ sessions, artifacts, skipped }: Imported): string =>
  `${sessions} sessions and ${artifacts} artifacts imported; ${skipped.length} existed already`;

/** Imports the sessions that ADK for Java stored in Firestore. */
async function importFrom(
  { sessions, memories }: OpenedServices,
  from: string,
  signal: AbortSignal,
): Promise<Imported> {
  const place = parseJavaPlace(from);
  const database = new FirestoreDatabase(place, cloudToken());
  const source = async function* (): AsyncGenerator<Session, void, void> {
    for await (const session of javaSessions(database, place.prefix)) {
      signal.throwIfAborted();
      yield session;
    }
  };
  try {
    return await importSessions(source(), sessions, memories);
  } finally {
    await database.close();
  }
}

async function* linesOf(source: AsyncIterable<string>): AsyncGenerator<string, void, void> {
  let open = '';
  for await (const chunk of source) {
    const lines = (open + chunk).split('\n');
    open = lines.pop() ?? '';
    yield* lines;
  }
  yield open;
}

/** Whether a named file cannot be opened. */
const isFileFault = (error: unknown): boolean => isCode(error, ['ENOENT', 'EACCES', 'EISDIR', 'ENOTDIR', 'EROFS']);

const isCode = (error: unknown, codes: readonly string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code));

/** Prints to stderr, because an export goes to stdout. */
const say = (text: string): void => void process.stderr.write(`${text}\n`);
