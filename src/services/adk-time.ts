/** Years 68 to 255,000: times that every database accepts, with room for the milliseconds that we add. */
const earliestMs = -6e13;
const latestMs = 8e15;

/**
 * Converts seconds to whole milliseconds for ADK's columns, within the range of calendars. Rounds to microseconds first,
 * because 0.123 s are 122.99… ms in some years.
 */
export const adkMs = (seconds: number): number =>
  Math.min(latestMs, Math.max(earliestMs, Math.floor(Math.round(seconds * 1e6) / 1000)));
