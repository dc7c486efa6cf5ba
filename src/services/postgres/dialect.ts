/** Differences between the tables of this database and those of ADK for TypeScript: Python's have other times, and a counter. */
export interface Dialect {
  /** The SQL that converts milliseconds to a time. */
  readonly time: (ms: string) => string;
  readonly hasEventSequence: boolean;
  /** The SQL for the event column, from an event in ADK's JSON and its time in seconds. */
  readonly eventData: (json: string, seconds: string) => string;
}
