import type { Services } from '../core/services.ts';

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

/** The artifacts and memories of a run: written to only as long as the writer's `check` does not throw. */
export function guardedStores({ artifacts, memories }: Services, writer: Writer): Partial<Services> {
  return {
    ...(artifacts && { artifacts: guarded(artifacts, writer) }),
    ...(memories && { memories: guarded(memories, writer) }),
  };
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
