import type { AppFinder } from './app-source.ts';

/** The apps of several folders as one list. Of two apps with the same name, the one in the earlier folder is used. */
export function manyFolders(finders: readonly AppFinder[]): AppFinder {
  const [only] = finders;
  if (only && finders.length === 1) return only;
  return {
    place: finders.map(({ place }) => place).join(', '),
    get base() {
      return only?.base ?? '';
    },
    list() {
      const names = new Set(finders.flatMap((finder) => finder.list().map(({ name }) => name)));
      return [...names].toSorted().flatMap((name) => this.find(name) ?? []);
    },
    find(name) {
      for (const finder of finders) {
        const source = finder.find(name);
        if (source) return source;
      }
      return undefined;
    },
    hints: () => finders.flatMap((finder) => finder.hints()),
  };
}
