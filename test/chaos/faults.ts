import { setTimeout as pause } from 'node:timers/promises';
import { Replica } from '../acceptance/durable/replicas.ts';
import type { PostgresServer } from '../support/postgres.ts';

/** `standstill`: the whole machine had no time for us, which is nobody's fault. */
export type FaultKind = 'kill' | 'freeze' | 'database' | 'standstill';

const tickMs = 250;

/** Something bad that happened, from its first moment until all is there again. */
export interface Fault {
  readonly kind: FaultKind;
  readonly fromMs: number;
  untilMs: number;
}

export interface Stage {
  readonly uri: string;
  /** Present: what servers share. */
  readonly postgres: PostgresServer | undefined;
  readonly replicas: Replica[];
  readonly roll: (sides: number) => number;
}

/** Does bad things to the servers of a stage, and remembers when. */
export class Faults {
  readonly all: Fault[] = [];
  /** Why servers did not start. */
  readonly failedStarts: unknown[] = [];
  readonly #stage: Stage;
  readonly #onlyKills: boolean;

  constructor(stage: Stage, onlyKills: boolean) {
    this.#stage = stage;
    this.#onlyKills = onlyKills || !stage.postgres;
    let lastMs = Date.now();
    setInterval(() => {
      const fromMs = lastMs;
      lastMs = Date.now();
      if (lastMs - fromMs > 4 * tickMs) this.all.push({ kind: 'standstill', fromMs, untilMs: lastMs });
    }, tickMs).unref();
  }

  count(kind: FaultKind): number {
    return this.all.filter((fault) => fault.kind === kind).length;
  }

  /** Those that overlap a time. */
  during(fromMs: number, untilMs: number): Fault[] {
    return this.all.filter((fault) => fault.fromMs <= untilMs && fault.untilMs >= fromMs);
  }

  async happen(): Promise<void> {
    const kind = this.#drawn();
    const fault: Fault = { kind, fromMs: Date.now(), untilMs: Number.POSITIVE_INFINITY };
    this.all.push(fault);
    await this.#do(kind);
    fault.untilMs = Date.now();
  }

  #drawn(): FaultKind {
    const drawn = this.#onlyKills ? 0 : this.#stage.roll(12);
    if (drawn < 10) return 'kill';
    return drawn < 11 ? 'freeze' : 'database';
  }

  async #do(kind: FaultKind): Promise<void> {
    const { postgres, replicas, roll, uri } = this.#stage;
    const index = roll(replicas.length);
    const victim = replicas[index]!;
    if (kind === 'kill') {
      victim.signal('SIGKILL');
      await pause(roll(500));
      replicas[index] = await this.#started(uri);
    } else if (kind === 'freeze') {
      victim.signal('SIGSTOP');
      await pause(1_000 + roll(9_000));
      victim.signal('SIGCONT');
    } else {
      await postgres?.stop(roll(2) === 0 ? 'fast' : 'immediate');
      await pause(500 + roll(5_000));
      await postgres?.start();
    }
  }

  /** A server that is not ready in time because nothing is may be started again. */
  async #started(uri: string): Promise<Replica> {
    for (;;) {
      const fromMs = Date.now();
      try {
        return await Replica.start(uri);
      } catch (error) {
        if (!this.during(fromMs, Date.now()).some(({ kind }) => kind === 'standstill')) this.failedStarts.push(error);
      }
    }
  }
}
