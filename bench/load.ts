import { Connection, type Reply } from './connection.ts';

export interface Load {
  readonly port: number;
  readonly concurrency: number;
  readonly requests: readonly Buffer[];
}

export interface LoadResult {
  readonly seconds: number;
  readonly requests: number;
  readonly frames: number;
  readonly bytes: number;
  /** One per request, in the order in which they ended. */
  readonly latenciesMs: readonly number[];
}

/** Sends every request once over `concurrency` connections, each waiting for its answer. Throws at the first non-200. */
export async function drive({ port, concurrency, requests }: Load): Promise<LoadResult> {
  const connections = Array.from({ length: concurrency }, () => new Connection(port));
  const latenciesMs: number[] = [];
  let next = 0;
  let frames = 0;
  let bytes = 0;
  const work = async (connection: Connection): Promise<void> => {
    for (let request = requests[next++]; request !== undefined; request = requests[next++]) {
      const from = performance.now();
      const reply = await connection.send(request);
      latenciesMs.push(performance.now() - from);
      assertOk(reply);
      frames += reply.frames;
      bytes += reply.bytes;
    }
  };
  const from = performance.now();
  try {
    await Promise.all(connections.map(work));
  } finally {
    for (const connection of connections) connection.close();
  }
  return { seconds: (performance.now() - from) / 1000, requests: requests.length, frames, bytes, latenciesMs };
}

/** Throws what the server answered when it is not a 200. */
export function assertOk(reply: Reply): void {
  if (reply.status !== 200) throw new Error(`The server answered ${reply.status}: ${reply.start}`);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
