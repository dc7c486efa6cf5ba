import type { LiveConnection } from './connection.ts';

/** The open live connections, with one ping timer for all of them. */
export class LiveSockets {
  readonly #tickMs: number;
  readonly #open = new Map<LiveConnection, Promise<void>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(tickMs: number) {
    this.#tickMs = tickMs;
  }

  /** Tracks a connection until its conversation ends. */
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

  /** Closes every connection because the server shuts down, and waits for the runs to end. */
  async close(): Promise<void> {
    for (const connection of this.#open.keys()) connection.close({ code: 1001, reason: 'The server is shutting down' });
    await Promise.all(this.#open.values());
  }

  readonly #tick = (): void => {
    for (const connection of this.#open.keys()) connection.tick();
  };
}
