import type { OpenSpan } from './spans.ts';

/**
 * Yields what a source yields inside a span. The first pull opens the span and the source; the span ends with the source
 * and fails if the source throws. Iterate it once, one pull at a time.
 */
export function inSpan<T>(
  open: () => OpenSpan,
  source: (span: OpenSpan) => AsyncIterable<T>,
): AsyncIterableIterator<T, void, void> {
  return new SpannedIterator(open, source);
}

/** Written by hand because a generator would cost every value two more promises. */
class SpannedIterator<T> implements AsyncIterableIterator<T, void, void> {
  readonly #open: () => OpenSpan;
  #source: ((span: OpenSpan) => AsyncIterable<T>) | undefined;
  #span: OpenSpan | undefined;
  #iterator: AsyncIterator<T> | undefined;

  constructor(open: () => OpenSpan, source: (span: OpenSpan) => AsyncIterable<T>) {
    this.#open = open;
    this.#source = source;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T, void>> {
    const source = this.#source;
    if (source) {
      this.#source = undefined;
      try {
        this.#span = this.#open();
        this.#iterator = source(this.#span)[Symbol.asyncIterator]();
      } catch (error) {
        return Promise.reject(this.#failed(error));
      }
    }
    if (!this.#iterator) return Promise.resolve(over);
    return this.#iterator.next().then(this.#onResult, this.#onError);
  }

  async return(): Promise<IteratorResult<T, void>> {
    const iterator = this.#iterator;
    this.#source = undefined;
    this.#iterator = undefined;
    try {
      await iterator?.return?.();
    } catch (error) {
      this.#span?.fail(error);
      throw error;
    } finally {
      this.#span?.end();
    }
    return over;
  }

  readonly #onResult = (result: IteratorResult<T, unknown>): IteratorResult<T, void> => {
    if (!result.done) return result;
    this.#iterator = undefined;
    this.#span?.end();
    return over;
  };

  readonly #onError = (error: unknown): never => {
    throw this.#failed(error);
  };

  #failed(error: unknown): Error {
    this.#iterator = undefined;
    this.#span?.fail(error);
    this.#span?.end();
    return error as Error; // it may be any thrown value; it is rethrown unchanged
  }
}

const over: IteratorReturnResult<void> = Object.freeze({ done: true, value: undefined });
