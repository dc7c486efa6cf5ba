import type { Event } from '../../../src/schemas/event.ts';
import type { RunRequest } from '../../../src/schemas/run.ts';
import type { SessionKey } from '../../../src/schemas/session.ts';
import { framesOf } from './frames.ts';
import { ApiError, getJson, request, sendJson } from './server.ts';
import { sessionPath } from './sessions.ts';

export type RunBody = Pick<RunRequest, 'appName' | 'userId' | 'sessionId'> & Partial<RunRequest>;

/** A run as the server lists it. Times are in seconds. */
export interface RunRecord {
  readonly id: string;
  readonly status: 'queued' | 'running' | 'waiting' | 'done' | 'failed' | 'cancelled' | 'interrupted';
  readonly createdAt: number;
}

/** Events that arrived together, and the position to continue from. */
export interface RunBatch {
  readonly events: readonly Event[];
  readonly lastId: string | undefined;
}

/** A run on the wire. */
export interface RunFeed {
  /** Absent where the server keeps no runs. */
  readonly runId: string | undefined;
  readonly batches: AsyncIterable<RunBatch>;
}

/** The last frame of a run that failed. */
interface Failure {
  readonly error: string;
  readonly errorCode?: string;
}

const isFailure = (value: Event | Failure): value is Failure => 'error' in value && !('id' in value);

/** Starts a run that continues when its client disconnects. Throws an `ApiError` when it cannot be started. */
export async function startRun(body: RunBody, signal: AbortSignal): Promise<RunFeed> {
  const response = await request('run_sse', { method: 'POST', body: { ...body, resumable: true }, signal });
  return feedOf(response, idIn(response.headers), { method: 'POST', path: '/run_sse' });
}

function idIn(headers: Headers): string | undefined {
  const id = headers.get('x-run-id');
  return id === null ? undefined : decodeURIComponent(id);
}

const runPath = (key: SessionKey, runId: string): string => `${sessionPath(key)}/runs/${encodeURIComponent(runId)}`;

/** Follows a run, from its first event or after the last one that was seen. */
export async function joinRun(
  key: SessionKey,
  runId: string,
  lastId: string | undefined,
  signal: AbortSignal,
): Promise<RunFeed> {
  const path = `${runPath(key, runId)}/stream`;
  const response = await request(path, { signal, headers: lastId === undefined ? {} : { 'last-event-id': lastId } });
  return feedOf(response, runId, { method: 'GET', path: `/${path}` });
}

/** The active run of the session, if any. */
export async function findRunning(key: SessionKey, signal: AbortSignal): Promise<RunRecord | undefined> {
  return (await getJson<RunRecord[]>(`${sessionPath(key)}/runs?status=running`, signal))[0];
}

/** Cancels a run. Resolves when it has ended. */
export const cancelRun = (key: SessionKey, runId: string): Promise<RunRecord> =>
  sendJson('POST', `${runPath(key, runId)}/cancel`, {});

function feedOf({ body }: Response, runId: string | undefined, asked: { method: string; path: string }): RunFeed {
  return { runId, batches: body ? batchesOf(body, asked) : none() };
}

async function* none(): AsyncGenerator<RunBatch, void, void> {}

async function* batchesOf(
  body: ReadableStream<Uint8Array>,
  asked: { method: string; path: string },
): AsyncGenerator<RunBatch, void, void> {
  for await (const frames of framesOf(body)) {
    const events: Event[] = [];
    let lastId: string | undefined;
    for (const { id, data } of frames) {
      const value = JSON.parse(data) as Event | Failure;
      if (isFailure(value)) {
        if (events.length > 0) yield { events, lastId };
        throw new ApiError(asked, 200, { detail: value.error, code: value.errorCode ?? '' });
      }
      events.push(value);
      lastId = id ?? lastId;
    }
    yield { events, lastId };
  }
}
