import { getJson, path } from './server.ts';

/** Attributes of the model call or tool call that produced an event. Throws 404 when its trace is gone. */
export const readEventTrace = (eventId: string, signal?: AbortSignal): Promise<Record<string, unknown>> =>
  getJson(path`debug/trace/${eventId}`, signal);
