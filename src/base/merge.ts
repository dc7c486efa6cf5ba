interface MergeOptions {
  /** Sources that are pulled at the same time; the others wait. */
  readonly limit?: number;
  /** Called before the remaining sources are closed. It must abort those that await: a generator cannot be closed while it awaits. */
  readonly onStop: () => void;
}

interface Pulled<T> {
  readonly iterator: AsyncIterator<T>;
  readonly result?: IteratorResult<T>;
  readonly error?: unknown;
}

/**
 * Yields from all sources as values arrive. It pulls a source again only after the consumer took its last value, so it
 * holds at most one value per source. When one fails or the consumer stops, it stops and closes the others.
 */
export async function* merge<T>(
  sources: readonly AsyncIterable<T>[],
  { limit = sources.length, onStop }: MergeOptions,
): AsyncGenerator<T, void, void> {
  const waiting = sources.map((source) => source[Symbol.asyncIterator]());
  const open = new Set<AsyncIterator<T>>();
  const ready: Pulled<T>[] = [];
  let wake: (() => void) | undefined;

  const arrive = (pulled: Pulled<T>): void => {
    ready.push(pulled);
    wake?.();
  };
  const pull = (iterator: AsyncIterator<T>): void => {
    open.add(iterator);
    iterator.next().then(
      (result) => arrive({ iterator, result }),
      (error: unknown) => arrive({ iterator, error }),
    );
  };
  const startNext = (): void => {
    const next = waiting.shift();
    if (next) pull(next);
  };

  for (let started = 0; started < limit && waiting.length > 0; started += 1) startNext();
  try {
    while (open.size > 0) {
      const pulled = ready.shift();
      if (!pulled) {
        await new Promise<void>((resolve) => (wake = resolve));
        continue;
      }
      if (!pulled.result) {
        open.delete(pulled.iterator);
        throw pulled.error;
      }
      if (pulled.result.done) {
        open.delete(pulled.iterator);
        startNext();
      } else {
        yield pulled.result.value;
        pull(pulled.iterator);
      }
    }
  } finally {
    onStop();
    await Promise.allSettled([...open].map((iterator) => iterator.return?.()));
  }
}
