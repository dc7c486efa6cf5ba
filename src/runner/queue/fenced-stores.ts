import type { ArtifactService, MemoryService, Services, SessionService } from '../../core/services.ts';

/** What a store may always be asked for. */
const reads: ReadonlySet<string | symbol> = new Set([
  'loadArtifact',
  'openArtifact',
  'listArtifactKeys',
  'listVersions',
  'searchMemory',
]);

/** A run that writes to stores. */
export interface WritePermit {
  /** Throws when the run may not write any more. */
  checkMayWrite(): void;
  /** Notes a write that is under way. */
  trackWrite(write: Promise<unknown>): void;
}

/** The services of a run: its artifacts and memories are written to only as long as the writer's `check` does not throw. */
export function fencedServices(
  { artifacts, memories }: Services,
  writer: WritePermit,
  sessions: SessionService,
): Services {
  const guard = new WriteGuard(writer);
  return {
    sessions,
    ...(artifacts && { artifacts: new Proxy<ArtifactService>(artifacts, guard) }),
    ...(memories && { memories: new Proxy<MemoryService>(memories, guard) }),
  };
}

/** A proxy's handler, because stores differ in what they can do: whatever is no read is fenced. */
class WriteGuard implements ProxyHandler<object> {
  readonly #writer: WritePermit;

  constructor(writer: WritePermit) {
    this.#writer = writer;
  }

  get(target: object, name: string | symbol): unknown {
    const member: unknown = Reflect.get(target, name);
    if (typeof member !== 'function') return member;
    if (reads.has(name)) return member.bind(target) as unknown;
    return async (...values: unknown[]): Promise<unknown> => {
      this.#writer.checkMayWrite();
      const write = Promise.resolve(member.apply(target, values) as unknown);
      this.#writer.trackWrite(write);
      return write;
    };
  }
}

/** The writes of a run that are under way. */
export class PendingWrites {
  readonly #writes = new Set<Promise<unknown>>();

  track(write: Promise<unknown>): void {
    this.#writes.add(write);
    const end = (): void => void this.#writes.delete(write);
    write.then(end, end);
  }

  /** Resolves when those of now are over. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#writes);
  }
}
