import type { LiveConnection } from './connection.ts';

/** The live connections that are open, and the beat of their hearts: one timer for all, while there are any. */
export class LiveSockets {
  readonly #tickMs: number;
  readonly #open = new Map<LiveConnection, Promise<void>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(tickMs: number) {
    this.#tickMs = tickMs;
  }

  /** Keeps a connection until its conversation is over. */
  add(connection: LiveConnection, over: Promise<void>): void {
    const done = over.finally(() => {
      this.#open.delete(connection);
      if (this.#open.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    });
    this.#open.set(connection, done);
    this.#timer ??= setInterval(this.#tick, this.#tickMs).unref();
  }

  /** Tells every client that the server is going, and waits for their runs to end. */
  async close(): Promise<void> {
    for (const connection of this.#open.keys()) connection.close({ code: 1001, reason: 'The server is shutting down' });
    await Promise.all(this.#open.values());
  }

  readonly #tick = (): void => {
    for (const connection of this.#open.keys()) connection.tick();
  };
}
