import type { Services } from '../core/services.ts';

/** What a run may not do once it has lost its session: whoever goes on with it does it again. */
const writes: ReadonlySet<string | symbol> = new Set([
  'saveArtifact',
  'saveArtifactContent',
  'deleteArtifact',
  'addSessionToMemory',
]);

/** The artifacts and memories of a run: written to only as long as `check` does not throw. */
export function guardedStores({ artifacts, memories }: Services, check: () => void): Partial<Services> {
  return {
    ...(artifacts && { artifacts: guarded(artifacts, check) }),
    ...(memories && { memories: guarded(memories, check) }),
  };
}

/** A proxy, because stores differ in what they can do. */
function guarded<T extends object>(store: T, check: () => void): T {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (!writes.has(name)) return member.bind(target) as unknown;
      return async (...values: unknown[]): Promise<unknown> => {
        check();
        return member.apply(target, values) as unknown;
      };
    },
  });
}
