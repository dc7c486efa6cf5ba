/** A value that is costly to make, such as a whole request: its text is made when somebody reads the trace. */
export interface LazyText {
  text(): string;
}

/** Whether a value of a span is still to be made. */
export const isLazy = (value: unknown): value is LazyText =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value as JSON. A function would take twice the memory of this object, for as long as its trace is kept. */
export class LazyJson implements LazyText {
  readonly #value: object;

  constructor(value: object) {
    this.#value = value;
  }

  text(): string {
    return JSON.stringify(this.#value);
  }
}
