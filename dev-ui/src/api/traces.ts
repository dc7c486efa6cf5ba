import type { TraceSpan } from '../../../src/schemas/records.ts';
import { getJson, path } from './server.ts';

export type { TraceSpan };

/** Finished spans of every trace that touched the session, oldest first. Times are nanoseconds. */
export const listSpans = (sessionId: string, signal?: AbortSignal): Promise<TraceSpan[]> =>
  getJson(path`debug/trace/session/${sessionId}`, signal);

/** Attributes of the model or tool call that made an event. Throws 404 when none is kept. */
export const readEventTrace = (eventId: string, signal?: AbortSignal): Promise<Record<string, unknown>> =>
  getJson(path`debug/trace/${eventId}`, signal);
