import type { Event } from '../../../src/schemas/event.ts';
import type { RunRequest } from '../../../src/schemas/run.ts';
import { framesOf } from './frames.ts';
import { ApiError, request } from './server.ts';

export type RunBody = Pick<RunRequest, 'appName' | 'userId' | 'sessionId'> & Partial<RunRequest>;

/** The last frame of a run that failed on its way. */
interface Failure {
  readonly error: string;
  readonly errorCode?: string;
}

const asked = { method: 'POST', path: '/run_sse' };
const isFailure = (value: Event | Failure): value is Failure => 'error' in value;

/** Runs the agent. Events that arrive together come together; a failure is thrown as an `ApiError`. */
export async function* runAgent(body: RunBody, signal: AbortSignal): AsyncGenerator<Event[], void, void> {
  const response = await request('run_sse', { method: 'POST', body, signal });
  if (!response.body) return;
  for await (const frames of framesOf(response.body)) {
    const events: Event[] = [];
    for (const { data } of frames) {
      const value = JSON.parse(data) as Event | Failure;
      if (isFailure(value)) {
        if (events.length > 0) yield events;
        throw new ApiError(asked, 200, { detail: value.error, code: value.errorCode ?? '' });
      }
      events.push(value);
    }
    yield events;
  }
}
