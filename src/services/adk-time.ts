/** Years 68 to 255,000: what every database takes for a time, with room for the milliseconds we add. */
const earliestMs = -6e13;
const latestMs = 8e15;

/**
 * A time in seconds as ADK's columns hold it: in whole milliseconds, and one that a calendar holds. Looked at to the
 * microsecond, for 0.123 s are 122.99… ms in some years.
 */
export const adkMs = (seconds: number): number =>
  Math.min(latestMs, Math.max(earliestMs, Math.floor(Math.round(seconds * 1e6) / 1000)));
