import { AppError } from '../../base/errors.ts';
import { locatedError } from '../located-error.ts';

/** Collects the faults of an app, so that one message names all of them. */
export class Faults {
  readonly #found: AppError[] = [];

  /** Returns the result of `work`; if it throws a ConfigurationException, records that and returns `undefined`. */
  async attempt<T>(work: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'ConfigurationException') throw error;
      this.#found.push(error);
      return undefined;
    }
  }

  /** Throws the recorded faults, if any, one per line. */
  throwAny(): void {
    const [first, ...others] = this.#found;
    if (!first) return;
    if (others.length === 0) throw first;
    const lines = new Set(this.#found.map(({ message }) => message));
    throw locatedError([...lines].join('\n'), { cause: first });
  }
}
