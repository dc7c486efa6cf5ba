import { z } from 'zod';
import { Content } from './content-schema.ts';
import { Event } from './event-schema.ts';
import { Session } from './session-schema.ts';

/** A remembered message. `timestamp` is an ISO 8601 text. */
export const MemoryEntry = z
  .object({
    id: z.string().optional(),
    author: z.string().optional(),
    content: Content,
    timestamp: z.string().optional(),
    customMetadata: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'MemoryEntry' });
export type MemoryEntry = z.infer<typeof MemoryEntry>;

/** One stored version of an artifact. Versions count from 0; `createTime` is in seconds. */
export const ArtifactVersion = z
  .object({
    version: z.number().int(),
    canonicalUri: z.string(),
    customMetadata: z.record(z.string(), z.unknown()),
    createTime: z.number(),
    mimeType: z.string().optional(),
  })
  .meta({ id: 'ArtifactVersion' });
export type ArtifactVersion = z.infer<typeof ArtifactVersion>;

export const ListArtifactsResponse = z.object({ filenames: z.array(z.string()) });
export const ListArtifactVersionsResponse = z.object({ versions: z.array(z.number().int()) });
/** A page of events. `total` counts all stored events of the session. */
export const ListEventsResponse = z.object({
  events: z.array(Event),
  nextPageToken: z.string().optional(),
  total: z.number().int(),
});
export const ListSessionsResponse = z.object({ sessions: z.array(Session) });
export type ListEventsResponse = z.infer<typeof ListEventsResponse>;

/** A Graphviz source. */
export const GraphResponse = z.object({ dotSrc: z.string() }).meta({ id: 'GraphResponse' });
export type GraphResponse = z.infer<typeof GraphResponse>;

/**
 * RFC 9457 problem, plus `error` (same text as `detail`) and `code` for ADK clients and for programs. `errorId` and
 * `where` (`file:line`, in development only) tell of what the code of an app threw.
 */
export const Problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    detail: z.string(),
    instance: z.string().optional(),
    error: z.string(),
    code: z.string(),
    requestId: z.string().optional(),
    errorId: z.string().optional(),
    where: z.string().optional(),
  })
  .loose()
  .meta({ id: 'Problem' });
export type Problem = z.infer<typeof Problem>;

/** A finished span as the ADK trace view reads it. Times are nanoseconds since the epoch; no attribute is null. */
export const TraceSpan = z
  .object({
    name: z.string(),
    span_id: z.string(),
    trace_id: z.string(),
    start_time: z.number(),
    end_time: z.number(),
    attributes: z.record(z.string(), z.unknown()),
    parent_span_id: z.string().nullable(),
  })
  .meta({ id: 'TraceSpan' });
export type TraceSpan = z.infer<typeof TraceSpan>;

/** One row of the detailed app list. `error` says why its files, as they are now, cannot be loaded. */
export const AppSummary = z
  .object({
    name: z.string(),
    rootAgentName: z.string(),
    description: z.string(),
    language: z.enum(['typescript', 'javascript', 'yaml']),
    isComputerUse: z.boolean(),
    error: z.string().optional(),
    /** When edits of it were loaded, in seconds since the epoch. */
    reloads: z.array(z.number()).optional(),
  })
  .meta({ id: 'AppSummary' });
export type AppSummary = z.infer<typeof AppSummary>;
