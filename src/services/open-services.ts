import { getHeapStatistics } from 'node:v8';
import type { KeyStore } from '../core/key-store.ts';
import type { RequestCounts } from '../core/request-counts.ts';
import type { RunStore } from '../core/run-store.ts';
import type { ArtifactService, MemoryService, SessionService } from '../core/services.ts';
import type { UsageStore } from '../core/usage-store.ts';
import type { SessionKey } from '../schemas/session.ts';
import { BucketArtifacts } from './artifacts/buckets/bucket-artifacts.ts';
import { GoogleBucket } from './artifacts/buckets/gcs.ts';
import { S3Bucket } from './artifacts/buckets/s3.ts';
import { FileArtifacts } from './artifacts/files/files.ts';
import { InMemoryArtifacts } from './artifacts/in-memory.ts';
import { PostgresArtifactTables } from './artifacts/postgres.ts';
import { SqlArtifacts } from './artifacts/sql-artifacts.ts';
import { SqliteArtifactTables } from './artifacts/sqlite.ts';
import { FirestoreDatabase, type FirestorePlace } from './firestore/database.ts';
import { type GoogleEnvironment, vertexPlace } from './google-environment.ts';
import { PostgresKeys } from './keys/postgres.ts';
import { SqliteKeys } from './keys/sqlite.ts';
import { AgentEngineMemories } from './memories/agent-engine.ts';
import { FirestoreMemories } from './memories/firestore.ts';
import { InMemoryMemories } from './memories/in-memory.ts';
import { PostgresMemories } from './memories/postgres.ts';
import { RagMemories } from './memories/rag.ts';
import { SqliteMemories } from './memories/sqlite.ts';
import { PostgresDatabase } from './postgres/database.ts';
import { PostgresRequestCounts } from './request-counts/postgres.ts';
import { PostgresRuns } from './runs/postgres.ts';
import { SqliteRuns } from './runs/sqlite.ts';
import { parseServiceUri, type ServicePlace, type VertexName } from './service-uri.ts';
import { AgentEngineSessions } from './sessions/agent-engine/agent-engine.ts';
import { FirestoreSessionTables } from './sessions/firestore/firestore.ts';
import { InMemorySessions } from './sessions/in-memory.ts';
import { PostgresSessionTables } from './sessions/postgres.ts';
import { SqlSessions } from './sessions/sql-sessions.ts';
import { SqliteSessionTables } from './sessions/sqlite.ts';
import { SqliteDatabase } from './sqlite/database.ts';
import { InMemoryUsage } from './usage/in-memory.ts';
import { PostgresUsage } from './usage/postgres.ts';
import { SqliteUsage } from './usage/sqlite.ts';
import { VertexApi } from './vertex/vertex-api.ts';

export interface ServiceOptions {
  /** URIs: see `parseServiceUri`. */
  readonly sessionService: string;
  readonly artifactService: string;
  readonly memoryService: string;
  /** Limits of sessions in memory; databases are cleaned by `collectGarbage`. */
  readonly sessionTtl?: number | undefined;
  readonly maxSessions?: number | undefined;
  /** Limit for all sessions in memory, in bytes. Default: half of the heap. */
  readonly sessionMemory?: number | undefined;
  /** Limit for all artifacts in memory, in bytes. Default: a quarter of the heap. */
  readonly artifactMemory?: number | undefined;
  /** Whether a session has a run: then it is not evicted from memory. */
  readonly isInUse?: (key: SessionKey) => boolean;
  /** Called with each session that was evicted from memory because of these limits. */
  readonly onEvicted?: (key: SessionKey) => void;
  /** Called when an idle connection to a database broke. */
  readonly onConnectionLost?: (error: Error) => void;
  /** Settings for Google's services; absent: no access to them. */
  readonly google?: GoogleEnvironment;
}

/** The stores of a server. */
export interface OpenedServices {
  readonly sessions: SessionService;
  readonly artifacts: ArtifactService;
  readonly memories: MemoryService;
  /** The run store, in the database of the sessions; absent if sessions are in memory. */
  readonly runs: RunStore | undefined;
  /** Counts usage, in the SQL database of the sessions, else in memory. */
  readonly usage: UsageStore;
  /** The databases of the services, one per URI. */
  readonly databases: Databases;
}

/**
 * Creates services by their URIs. Files, connections and drivers are opened on first use. Throws `ConfigurationException`
 * for a URI that does not fit its service.
 */
export function openServices(options: ServiceOptions): OpenedServices {
  const databases = new Databases(options);
  const place = parseServiceUri('sessions', options.sessionService);
  const artifacts = artifactsAt(parseServiceUri('artifacts', options.artifactService), databases, options);
  const memories = memoriesAt(parseServiceUri('memories', options.memoryService), databases);
  const usage = usageAt(place, databases);
  const forget = (key: SessionKey): void => {
    // A store that is unreachable keeps data that nothing refers to; that is harmless.
    const gone = [
      artifacts.deleteSessionArtifacts(key),
      memories.deleteSessionMemory(key),
      usage.deleteSessionUsage(key),
    ];
    void Promise.allSettled(gone);
    options.onEvicted?.(key);
  };
  return {
    sessions: sessionsAt(place, databases, { ...options, forget }),
    artifacts,
    memories,
    runs: runsAt(place, databases),
    usage,
    databases,
  };
}

/** The heap limit of this process. */
const heapBytes = (): number => getHeapStatistics().heap_size_limit;

function sessionsAt(
  place: ServicePlace,
  databases: Databases,
  { sessionTtl, maxSessions, sessionMemory, isInUse, forget }: ServiceOptions & { forget: (key: SessionKey) => void },
): SessionService {
  if (place.kind === 'sqlite') return new SqlSessions(new SqliteSessionTables(databases.sqlite(place.path)));
  if (place.kind === 'postgres') return new SqlSessions(new PostgresSessionTables(databases.postgres(place.uri)));
  if (place.kind === 'firestore') return new SqlSessions(new FirestoreSessionTables(databases.firestore(place)));
  if (place.kind === 'agentengine') return new AgentEngineSessions(databases.vertex(place));
  return new InMemorySessions({
    ...(sessionTtl !== undefined && { idleMs: sessionTtl }),
    ...(maxSessions !== undefined && { maxSessions }),
    maxBytes: sessionMemory ?? heapBytes() / 2,
    ...(isInUse && { isInUse }),
    onEvicted: forget,
  });
}

function artifactsAt(place: ServicePlace, databases: Databases, { artifactMemory }: ServiceOptions): ArtifactService {
  if (place.kind === 'file') return new FileArtifacts(place.folder);
  if (place.kind === 'sqlite') return new SqlArtifacts(new SqliteArtifactTables(databases.sqlite(place.path)));
  if (place.kind === 'postgres') return new SqlArtifacts(new PostgresArtifactTables(databases.postgres(place.uri)));
  if (place.kind === 's3') return new BucketArtifacts(new S3Bucket(place), place.prefix);
  if (place.kind === 'gs') return new BucketArtifacts(new GoogleBucket(place.bucket), place.prefix);
  return new InMemoryArtifacts({ maxBytes: artifactMemory ?? heapBytes() / 4 });
}

function memoriesAt(place: ServicePlace, databases: Databases): MemoryService {
  if (place.kind === 'sqlite') return new SqliteMemories(databases.sqlite(place.path));
  if (place.kind === 'postgres') return new PostgresMemories(databases.postgres(place.uri));
  if (place.kind === 'firestore') return new FirestoreMemories(databases.firestore(place));
  if (place.kind === 'agentengine') return new AgentEngineMemories(databases.vertex(place));
  if (place.kind === 'rag') return new RagMemories(databases.vertex(place));
  return new InMemoryMemories({ maxBytes: heapBytes() / 8 });
}

function runsAt(place: ServicePlace, databases: Databases): RunStore | undefined {
  if (place.kind === 'sqlite') return new SqliteRuns(databases.sqlite(place.path));
  return place.kind === 'postgres' ? new PostgresRuns(databases.postgres(place.uri)) : undefined;
}

/** The API keys beside the sessions; `undefined` where these are in no SQL database. Throws as `openServices` does. */
export function keyStoreAt(sessionService: string, databases: Databases): KeyStore | undefined {
  const place = parseServiceUri('sessions', sessionService);
  if (place.kind === 'sqlite') return new SqliteKeys(databases.sqlite(place.path));
  return place.kind === 'postgres' ? new PostgresKeys(databases.postgres(place.uri)) : undefined;
}

/**
 * Where the servers that share the database of the sessions count requests together; `undefined` where each counts its
 * own. That is so with SQLite as well: one server should write to a file, and counting there would add a disk sync to
 * every request.
 */
export function requestCountsAt(sessionService: string, databases: Databases): RequestCounts | undefined {
  const place = parseServiceUri('sessions', sessionService);
  return place.kind === 'postgres' ? new PostgresRequestCounts(databases.postgres(place.uri)) : undefined;
}

function usageAt(place: ServicePlace, databases: Databases): UsageStore {
  if (place.kind === 'sqlite') return new SqliteUsage(databases.sqlite(place.path));
  return place.kind === 'postgres' ? new PostgresUsage(databases.postgres(place.uri)) : new InMemoryUsage();
}

/** Databases by their location: services with the same database share it. */
export class Databases {
  readonly #sqlite = new Map<string, SqliteDatabase>();
  readonly #postgres = new Map<string, PostgresDatabase>();
  readonly #firestore = new Map<string, FirestoreDatabase>();
  readonly #vertex = new Map<string, VertexApi>();
  readonly #options: Pick<ServiceOptions, 'onConnectionLost' | 'google'>;

  constructor(options: Pick<ServiceOptions, 'onConnectionLost' | 'google'> = {}) {
    this.#options = options;
  }

  sqlite(path: string): SqliteDatabase {
    const known = this.#sqlite.get(path);
    if (known) return known;
    const database = new SqliteDatabase(path);
    this.#sqlite.set(path, database);
    return database;
  }

  postgres(uri: string): PostgresDatabase {
    const known = this.#postgres.get(uri);
    if (known) return known;
    const onIdleError = this.#options.onConnectionLost;
    const database = new PostgresDatabase(uri, onIdleError ? { onIdleError } : {});
    this.#postgres.set(uri, database);
    return database;
  }

  firestore(place: FirestorePlace): FirestoreDatabase {
    const name = JSON.stringify([place.project, place.database, place.prefix]);
    const known = this.#firestore.get(name);
    if (known) return known;
    const database = new FirestoreDatabase(place, this.#options.google?.token);
    this.#firestore.set(name, database);
    return database;
  }

  /** Throws `ConfigurationException` for a short name without a project and a location in the environment. */
  vertex(name: VertexName): VertexApi {
    const place = vertexPlace(name, this.#options.google);
    const known = this.#vertex.get(place.resource);
    if (known) return known;
    const { token, vertexUrl: baseUrl } = this.#options.google ?? {};
    const api = new VertexApi(place, { token, baseUrl });
    this.#vertex.set(place.resource, api);
    return api;
  }

  async close(): Promise<void> {
    for (const api of this.#vertex.values()) api.close();
    const opened = [this.#sqlite, this.#postgres, this.#firestore].flatMap((databases) => [...databases.values()]);
    await Promise.all(opened.map((database) => database.close()));
  }
}
