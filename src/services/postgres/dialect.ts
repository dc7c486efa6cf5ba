/** How the tables of this database differ from those of ADK for TypeScript: Python's have other times, and a counter. */
export interface Dialect {
  /** SQL of a time from a number of milliseconds. */
  readonly time: (ms: string) => string;
  readonly hasEventSequence: boolean;
  /** An event's JSON as its column holds it, of an event in ADK's JSON and its time in seconds. */
  readonly eventData: (json: string, seconds: string) => string;
}
