import { setTimeout as pause } from 'node:timers/promises';
import { isOver, type Run, type RunStatus } from '../../src/schemas/run-record.ts';
import type { Replica } from '../acceptance/durable/replicas.ts';
import { ask, listen } from './client.ts';
import type { ClientLog } from './log.ts';

/** Seconds that runs may take once the servers are left alone; those in which the machine stands still do not count. */
const patience = 90;

/** What clients of all kinds do again and again, whatever happens to the servers. */
export class Clients {
  readonly log: ClientLog;
  readonly #replicas: readonly Replica[];
  readonly #working: Promise<void>[] = [];
  #secondsLeft = Number.POSITIVE_INFINITY;
  #isEnding = false;
  #tags = 0;

  constructor(replicas: readonly Replica[], log: ClientLog) {
    this.#replicas = replicas;
    this.log = log;
  }

  /** A server by number: that of the next number is another one, if there is any. */
  server(number: number): Replica {
    return this.#replicas[number % this.#replicas.length]!;
  }

  async newSession(): Promise<string> {
    const session = await this.server(0).newSession('steps');
    this.log.sessions.push(session);
    return session;
  }

  /** Does something again and again, until the end. */
  begin(work: (turn: number) => Promise<void>, first: number): void {
    const working = async (): Promise<void> => {
      for (let turn = first; !this.#isEnding; turn += 1) await work(turn);
    };
    this.#working.push(working());
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    this.#secondsLeft = patience;
    const clock = setInterval(() => (this.#secondsLeft -= 1), 1_000);
    await Promise.all(this.#working);
    clearInterval(clock);
  }

  /** Tries it at one server after the other, until it gives something. */
  async again<T>(turn: number, work: (server: Replica) => Promise<T | undefined>): Promise<T | undefined> {
    for (let attempt = turn; this.#secondsLeft > 0; attempt += 1) {
      const done = await work(this.server(attempt)).catch(() => undefined); // the server is gone, or says so
      if (done !== undefined) return done;
      await pause(100);
    }
    return undefined;
  }

  /** Starts one run, however often it has to be asked for. */
  async start(session: string, turn: number, { steps, ms }: { steps: number; ms: number }): Promise<Run | undefined> {
    this.#tags += 1;
    const tag = `${steps} x ${ms} #${this.#tags}`;
    const asked = { session, tag, run: undefined as string | undefined };
    this.log.asked.push(asked);
    const json = { newMessage: { role: 'user', parts: [{ text: tag }] }, streaming: turn % 2 === 0 };
    const run = await this.again(turn, async (server) => {
      const { status, body } = await ask(server, `${session}/runs`, { json, key: tag });
      if (status === 202) return body as Run;
      // A server that was frozen while it was asked finds that the request took too long.
      if (status < 500 && status !== 429 && status !== 408) this.log.faults.push(`${tag} was answered with ${status}`);
      return undefined;
    });
    asked.run = run?.id;
    return run;
  }

  /** Follows a run to its end, from server to server. */
  async follow(session: string, { id, status }: Run, turn: number, steps: number): Promise<void> {
    const run = { session, id, steps, status, shown: [] as { id: string; json: string }[] };
    this.log.runs.push(run);
    let last: string | undefined;
    let fromMs = Date.now();
    const ended = await this.again(turn, async (server) => {
      let isCut = false;
      for await (const frame of listen(server, `${session}/runs/${id}/stream`, {
        ...(last !== undefined && { last }),
      })) {
        isCut = frame.id === undefined; // the last frame of a stream that failed, if only because the database is away
        if (frame.id === undefined) continue;
        last = frame.id;
        if (frame.data['partial'] === true) continue;
        run.shown.push({ id: frame.id, json: frame.json });
        this.log.silences.push({ run: id, fromMs, untilMs: Date.now() });
        fromMs = Date.now();
      }
      run.status = await this.#statusOf(server, session, id);
      return isOver(run.status) && !(isCut && run.status === 'done') ? run.status : undefined;
    });
    if (ended) this.log.endings.push({ session, run: id, status: ended });
  }

  /** Waits for the end of a run. */
  async over(session: string, id: string, turn: number): Promise<RunStatus | undefined> {
    const status = await this.again(turn, async (server) => {
      const found = await this.#statusOf(server, session, id);
      return isOver(found) ? found : undefined;
    });
    if (status) this.log.endings.push({ session, run: id, status });
    return status;
  }

  async #statusOf(server: Replica, session: string, id: string): Promise<RunStatus> {
    const { status, body } = await ask(server, `${session}/runs/${id}`);
    if (status === 200) return (body as Run).status;
    if (status < 500 && status !== 408)
      this.log.faults.push(`run ${id}, which was accepted, was answered with ${status}`);
    throw new Error(`The run was answered with ${status}`);
  }
}
