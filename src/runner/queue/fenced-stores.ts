import type { JsonObject } from '../../base/json.ts';
import type {
  ArtifactService,
  CollectOptions,
  MemoryService,
  Services,
  SessionService,
  StoredArtifactVersion,
} from '../../core/services.ts';
import type { Part } from '../../schemas/content.ts';
import type { MemoryEntry } from '../../schemas/records.ts';
import type { Session, SessionKey, SessionOwner } from '../../schemas/session.ts';

// Decides which artifact and memory writes of a run are refused once the run has lost its session: all of them. Each class
// declares every member of its interface (`Record<keyof …>`), so that it does not compile when a new write is not fenced.

/** The right of a run to write. */
export interface WritePermit {
  /** Throws when the run may no longer write. */
  checkMayWrite(): void;
  /** Remembers a write until it has settled. */
  trackWrite(write: Promise<unknown>): void;
}

/** The services as one run sees them. `sessions`: fenced already, where their store needs that. */
export function fencedServices(
  { artifacts, memories }: Services,
  permit: WritePermit,
  sessions: SessionService,
): Services {
  return {
    sessions,
    ...(artifacts && { artifacts: new FencedArtifacts(artifacts, permit) }),
    ...(memories && { memories: new FencedMemories(memories, permit) }),
  };
}

/** Throws the permit's refusal, or starts the write and tracks it. */
async function fenced<T>(permit: WritePermit, write: () => Promise<T>): Promise<T> {
  permit.checkMayWrite();
  const written = write();
  permit.trackWrite(written);
  return written;
}

/** Members that a store may lack are getters, so that a caller sees which ones this store has. */
export class FencedArtifacts implements ArtifactService, Record<keyof ArtifactService, unknown> {
  readonly #store: ArtifactService;
  readonly #permit: WritePermit;

  constructor(store: ArtifactService, permit: WritePermit) {
    this.#store = store;
    this.#permit = permit;
  }

  saveArtifact(key: SessionKey, name: string, artifact: Part, metadata?: JsonObject): Promise<number> {
    return fenced(this.#permit, () => this.#store.saveArtifact(key, name, artifact, metadata));
  }

  get saveArtifactCopy(): ArtifactService['saveArtifactCopy'] {
    const save = this.#store.saveArtifactCopy?.bind(this.#store);
    return save && ((...args) => fenced(this.#permit, () => save(...args)));
  }

  get saveArtifactContent(): ArtifactService['saveArtifactContent'] {
    const save = this.#store.saveArtifactContent?.bind(this.#store);
    return save && ((...args) => fenced(this.#permit, () => save(...args)));
  }

  deleteArtifact(key: SessionKey, name: string): Promise<void> {
    return fenced(this.#permit, () => this.#store.deleteArtifact(key, name));
  }

  deleteSessionArtifacts(key: SessionKey): Promise<void> {
    return fenced(this.#permit, () => this.#store.deleteSessionArtifacts(key));
  }

  get collectGarbage(): ArtifactService['collectGarbage'] {
    const collect = this.#store.collectGarbage?.bind(this.#store);
    return collect && ((limits, options: CollectOptions) => fenced(this.#permit, () => collect(limits, options)));
  }

  get close(): ArtifactService['close'] {
    const close = this.#store.close?.bind(this.#store);
    return close && (() => fenced(this.#permit, close));
  }

  get openArtifact(): ArtifactService['openArtifact'] {
    return this.#store.openArtifact?.bind(this.#store);
  }

  loadArtifact(key: SessionKey, name: string, version?: number): Promise<Part | undefined> {
    return this.#store.loadArtifact(key, name, version);
  }

  listArtifactKeys(key: SessionKey): Promise<string[]> {
    return this.#store.listArtifactKeys(key);
  }

  listVersions(key: SessionKey, name: string): Promise<StoredArtifactVersion[]> {
    return this.#store.listVersions(key, name);
  }

  get check(): ArtifactService['check'] {
    return this.#store.check?.bind(this.#store);
  }
}

export class FencedMemories implements MemoryService, Record<keyof MemoryService, unknown> {
  readonly #store: MemoryService;
  readonly #permit: WritePermit;

  constructor(store: MemoryService, permit: WritePermit) {
    this.#store = store;
    this.#permit = permit;
  }

  addSessionToMemory(session: Session): Promise<void> {
    return fenced(this.#permit, () => this.#store.addSessionToMemory(session));
  }

  deleteSessionMemory(key: SessionKey): Promise<void> {
    return fenced(this.#permit, () => this.#store.deleteSessionMemory(key));
  }

  get close(): MemoryService['close'] {
    const close = this.#store.close?.bind(this.#store);
    return close && (() => fenced(this.#permit, close));
  }

  searchMemory(owner: SessionOwner, query: string): Promise<MemoryEntry[]> {
    return this.#store.searchMemory(owner, query);
  }

  get check(): MemoryService['check'] {
    return this.#store.check?.bind(this.#store);
  }
}

/** The writes of a run that have not settled. */
export class PendingWrites {
  readonly #writes = new Set<Promise<unknown>>();

  track(write: Promise<unknown>): void {
    this.#writes.add(write);
    const end = (): void => void this.#writes.delete(write);
    write.then(end, end);
  }

  /** Resolves when the writes that are pending now have settled. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#writes);
  }
}
