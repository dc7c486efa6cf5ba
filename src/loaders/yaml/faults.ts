import { AppError } from '../../base/errors.ts';
import { locatedError } from '../located-error.ts';

/** Collects what is wrong with an app, so that its author learns of all of it at once. */
export class Faults {
  readonly #found: AppError[] = [];

  /** Does the work. What is wrong with the configuration is noted, and the answer is `undefined` then. */
  async attempt<T>(work: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'ConfigurationException') throw error;
      this.#found.push(error);
      return undefined;
    }
  }

  /** Throws what was noted, a line each. */
  throwAny(): void {
    const [first, ...others] = this.#found;
    if (!first) return;
    if (others.length === 0) throw first;
    const lines = new Set(this.#found.map(({ message }) => message));
    throw locatedError([...lines].join('\n'), { cause: first });
  }
}
