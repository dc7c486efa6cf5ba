import { setTimeout as pause } from 'node:timers/promises';
import { isOver, type RunStatus } from '../../src/schemas/run-record.ts';
import { numbers, type Replica } from '../acceptance/durable/replicas.ts';

const steps = 12;
const text = `${steps} x 60`;
/** How long a run may take once the servers are left alone. */
const patienceMs = 60_000;

interface AcceptedRun {
  readonly session: string;
  readonly id: string;
  status: RunStatus;
  /** Ids of the whole events that were shown, in order. */
  readonly shown: string[];
}

export interface Report {
  readonly sessions: readonly string[];
  readonly runs: readonly AcceptedRun[];
  readonly frames: number;
  /** The longest time between two events of one run. */
  readonly slowestMs: number;
}

/** Clients that start runs and follow them, whatever happens to the servers. */
export class Traffic {
  readonly #replicas: readonly Replica[];
  readonly #sessions: string[] = [];
  readonly #runs: AcceptedRun[] = [];
  #clients: Promise<void>[] = [];
  #slowestMs = 0;
  #isEnding = false;
  #untilMs = Number.POSITIVE_INFINITY;

  constructor(replicas: readonly Replica[]) {
    this.#replicas = replicas;
  }

  get accepted(): number {
    return this.#runs.length;
  }

  async begin(clients: number): Promise<void> {
    for (let index = 0; index < clients; index += 1) {
      const session = await this.#any(index).newSession('steps');
      this.#sessions.push(session);
      // Two on each session: they have to take turns.
      this.#clients.push(this.#client(session, index), this.#client(session, index + 1));
    }
  }

  async end(): Promise<Report> {
    this.#isEnding = true;
    this.#untilMs = Date.now() + patienceMs;
    await Promise.all(this.#clients);
    const frames = this.#runs.reduce((sum, { shown }) => sum + shown.length, 0);
    return { sessions: this.#sessions, runs: this.#runs, frames, slowestMs: this.#slowestMs };
  }

  async #client(session: string, seed: number): Promise<void> {
    for (let turn = seed; !this.#isEnding; turn += 1) {
      try {
        const { status, run } = await this.#any(turn).start(session, text, { streaming: turn % 2 === 0 });
        if (status !== 202) throw new Error(`answered ${status}`);
        const accepted: AcceptedRun = { session, id: run.id, status: run.status, shown: [] };
        this.#runs.push(accepted);
        await this.#follow(accepted, turn);
      } catch {
        await pause(200); // the server is gone, or says so
      }
    }
  }

  /** Follows a run to its end, from server to server. */
  async #follow(run: AcceptedRun, turn: number): Promise<void> {
    let last = '';
    let lastMs = Date.now();
    for (let attempt = turn; Date.now() < this.#untilMs; attempt += 1) {
      const replica = this.#any(attempt);
      try {
        let isCut = false;
        for await (const { id, data } of replica.frames(run.session, run.id, last)) {
          isCut = id === undefined; // the last frame of a stream that failed, if only because the database is away
          if (id === undefined) continue;
          last = id;
          if (data['partial'] === true) continue;
          run.shown.push(id);
          this.#slowestMs = Math.max(this.#slowestMs, Date.now() - lastMs);
          lastMs = Date.now();
        }
        const { status } = await replica.run(run.session, run.id);
        run.status = status;
        if (isOver(status) && !(isCut && status === 'done')) return;
      } catch {
        await pause(100);
      }
    }
  }

  #any(number: number): Replica {
    return this.#replicas[number % this.#replicas.length]!;
  }
}

/** What of a report is not as it was promised. */
export async function faultsFound(replica: Replica, { sessions, runs }: Report): Promise<string[]> {
  const faults: string[] = [];
  for (const { id, status, shown } of runs) {
    const name = `run ${id} (${status})`;
    if (!isOver(status)) faults.push(`${name} did not end`);
    if (new Set(shown).size !== shown.length) faults.push(`${name} showed an event twice`);
    const expected = shown.map((_, index) => `${id}:${index + 1}`);
    if (shown.join() !== expected.join()) faults.push(`${name} showed ${shown.join()}`);
    if (status === 'done' && shown.length !== steps) faults.push(`${name} showed ${shown.length} events`);
  }
  for (const session of sessions) {
    const history = await replica.history(session);
    const order = history.map(({ run }) => run).filter((run, index, all) => run !== all[index - 1]);
    if (new Set(order).size !== order.length) faults.push(`${session} has runs that are interleaved`);
    for (const { id, status, shown } of runs.filter((run) => run.session === session)) {
      const stored = history.filter(({ run }) => run === id).map((event) => event.text);
      const whole = [text, ...numbers(steps)];
      if (status === 'done' && stored.join() !== whole.join()) faults.push(`run ${id} stored ${stored.join()}`);
      // The last event of a run that failed says so.
      const kept = whole.slice(0, shown.length + (status === 'done' ? 1 : 0)).join();
      if (!stored.join().startsWith(kept)) faults.push(`run ${id} lost what it showed: ${stored.join()}`);
    }
  }
  return faults;
}
