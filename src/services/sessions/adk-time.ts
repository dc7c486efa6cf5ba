/** Years 68 to 255,000: what every database takes for a time, with room for the milliseconds we add. */
const earliestMs = -6e13;
const latestMs = 8e15;

/** A time in seconds as ADK's columns hold it: in whole milliseconds, and one that a calendar holds. */
export const adkMs = (seconds: number): number => Math.min(latestMs, Math.max(earliestMs, Math.floor(seconds * 1000)));
