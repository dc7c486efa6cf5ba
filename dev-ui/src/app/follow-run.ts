import type { Event } from '../../../src/schemas/event.ts';
import type { SessionKey } from '../../../src/schemas/session.ts';
import { joinRun, type RunFeed } from '../api/runs.ts';
import { ApiError } from '../api/server.ts';

const mostTries = 6;
const firstWaitMs = 250;

export interface Following {
  readonly key: SessionKey;
  readonly signal: AbortSignal;
  /** Called with the id of the run, and with whether the connection is open. */
  readonly onLink: (runId: string | undefined, connected: boolean) => void;
}

/** The events of a run until it ends. A lost connection is resumed at the position where it broke. */
export async function* followRun(first: RunFeed, following: Following): AsyncGenerator<readonly Event[], void, void> {
  const { key, signal, onLink } = following;
  const { runId } = first;
  let feed = first;
  let lastId: string | undefined;
  let tries = 0;
  for (;;) {
    onLink(runId, true);
    try {
      for await (const batch of feed.batches) {
        tries = 0;
        lastId = batch.lastId ?? lastId;
        yield batch.events;
      }
      return;
    } catch (error) {
      if (signal.aborted || runId === undefined || error instanceof ApiError) throw error;
    }
    onLink(runId, false);
    feed = await rejoin(runId);
  }

  async function rejoin(id: string): Promise<RunFeed> {
    for (;;) {
      await delay(firstWaitMs * 2 ** tries, signal);
      tries += 1;
      try {
        return await joinRun(key, id, lastId, signal);
      } catch (error) {
        const isOffline = error instanceof ApiError && error.status === 0;
        if (!isOffline || tries >= mostTries) throw error;
      }
    }
  }
}

function delay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}
