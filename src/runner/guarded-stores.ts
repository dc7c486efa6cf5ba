import type { ArtifactService, MemoryService, Services, SessionService } from '../core/services.ts';

/** What a store may always be asked for. */
const reads: ReadonlySet<string | symbol> = new Set([
  'loadArtifact',
  'openArtifact',
  'listArtifactKeys',
  'listVersions',
  'searchMemory',
]);

/** A run that writes to stores. */
export interface Writer {
  /** Throws when the run may not write any more. */
  check(): void;
  /** Notes a write that is under way. */
  noteWrite(write: Promise<unknown>): void;
}

/**
 * The services of a run: its artifacts and memories are written to only as long as the writer's `check` does not throw.
 * Their guards are made when they are first asked for: most runs never do.
 */
export class GuardedServices implements Services {
  readonly sessions: SessionService;
  readonly #services: Services;
  readonly #writer: Writer;
  #artifacts: ArtifactService | undefined;
  #memories: MemoryService | undefined;

  constructor(services: Services, writer: Writer, sessions: SessionService) {
    this.sessions = sessions;
    this.#services = services;
    this.#writer = writer;
  }

  get artifacts(): ArtifactService | undefined {
    const { artifacts } = this.#services;
    return artifacts && (this.#artifacts ??= guarded(artifacts, this.#writer));
  }

  get memories(): MemoryService | undefined {
    const { memories } = this.#services;
    return memories && (this.#memories ??= guarded(memories, this.#writer));
  }
}

/** A proxy, because stores differ in what they can do. */
function guarded<T extends object>(store: T, writer: Writer): T {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (reads.has(name)) return member.bind(target) as unknown;
      return async (...values: unknown[]): Promise<unknown> => {
        writer.check();
        const write = Promise.resolve(member.apply(target, values) as unknown);
        writer.noteWrite(write);
        return write;
      };
    },
  });
}

/** The writes of a run that are under way. */
export class OpenWrites {
  readonly #writes = new Set<Promise<unknown>>();

  note(write: Promise<unknown>): void {
    this.#writes.add(write);
    const end = (): void => void this.#writes.delete(write);
    write.then(end, end);
  }

  /** Resolves when those of now are over. */
  async over(): Promise<void> {
    await Promise.allSettled(this.#writes);
  }
}
