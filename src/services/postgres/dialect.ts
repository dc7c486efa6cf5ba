/** How the tables of this database differ from those of ADK for TypeScript: Python's have other times, and a counter. */
export interface Dialect {
  /** SQL of a time from a number of milliseconds. */
  readonly time: (ms: string) => string;
  readonly hasEventSequence: boolean;
}
