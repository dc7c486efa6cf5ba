import { z } from 'zod';

/**
 * The status of a run. `waiting`: it ended with calls that the user or the application must answer. `interrupted`: another
 * run preempted it, or its server stopped.
 */
export const RunStatus = z.enum(['queued', 'running', 'waiting', 'done', 'failed', 'cancelled', 'interrupted']);
export type RunStatus = z.infer<typeof RunStatus>;

/** Whether nothing more will happen in a run of this status. */
export const isOver = (status: RunStatus): boolean => status !== 'queued' && status !== 'running';

/** A call that waits for the user or the application. */
export const OpenCall = z.object({ id: z.string(), name: z.string(), eventId: z.string() }).meta({ id: 'OpenCall' });
export type OpenCall = z.infer<typeof OpenCall>;

/** A run as a resource. Its id is the `invocationId` of its events; times are in seconds. */
export const Run = z
  .object({
    id: z.string(),
    appName: z.string(),
    userId: z.string(),
    sessionId: z.string(),
    status: RunStatus,
    createdAt: z.number(),
    startedAt: z.number().optional(),
    endedAt: z.number().optional(),
    error: z.object({ code: z.string(), message: z.string() }).optional(),
    openCalls: z.array(OpenCall).optional(),
  })
  .meta({ id: 'Run' });
export type Run = z.infer<typeof Run>;
