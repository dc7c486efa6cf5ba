/** A span attribute that is expensive to write as text, such as a whole request. The text is made when a trace is read. */
export interface LazyText {
  text(): string;
}

/** Whether the value of an attribute is a LazyText. */
export const isLazy = (value: unknown): value is LazyText =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value as JSON. A closure would take twice the memory of this object, for as long as its trace is kept. */
export class LazyJson implements LazyText {
  readonly #value: object;

  constructor(value: object) {
    this.#value = value;
  }

  text(): string {
    return JSON.stringify(this.#value);
  }
}
