import { getJson, path } from './server.ts';

/** Attributes of the model or tool call that made an event. Throws 404 when none is kept. */
export const readEventTrace = (eventId: string, signal?: AbortSignal): Promise<Record<string, unknown>> =>
  getJson(path`debug/trace/${eventId}`, signal);
