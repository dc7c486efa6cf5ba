import type { Content } from '../../../src/schemas/content.ts';
import type { Event } from '../../../src/schemas/event.ts';
import type { RunRequest } from '../../../src/schemas/run.ts';
import type { Session, SessionKey } from '../../../src/schemas/session.ts';
import { cancelRun, findRunning, joinRun, type RunFeed, startRun } from '../api/runs.ts';
import { ApiError, isAbort } from '../api/server.ts';
import { readSession } from '../api/sessions.ts';
import { EventLog } from '../log/event-log.ts';
import { announceRun } from './announce.tsx';
import { Batch } from './batch.ts';
import { followRun } from './follow-run.ts';

/** How loading the session went. */
export type LoadStatus = 'loading' | 'ready' | 'missing' | 'failed';

export interface RunState {
  readonly status: 'idle' | 'running' | 'stopped' | 'failed';
  readonly error?: unknown;
  /** Events the run has made so far. */
  readonly events: number;
  /** The connection was lost, and the page reconnects. */
  readonly reconnecting?: boolean;
}

export type RunOptions = Pick<RunRequest, 'runConfig' | 'stateDelta' | 'functionCallEventId' | 'invocationId'> & {
  readonly streaming?: boolean;
};

/** A run that the page follows: how to stop following it, and its id. */
interface Watch {
  readonly leaving: AbortController;
  runId: string | undefined;
  stopped: boolean;
}

/** Events that are read first: the end of a long session shows before the rest of it is there. */
const firstEvents = 200;
/** Time to render the end of a long session before the rest is read. */
const restAfterMs = 100;
/** Events a run may have stored besides those that were streamed. */
const slack = 8;

/** One session on the screen: its log, its load status, and the active run. */
export class Workspace {
  readonly key: SessionKey;
  readonly log = new EventLog();
  load: { readonly status: LoadStatus; readonly error?: unknown } = { status: 'loading' };
  run: RunState = { status: 'idle', events: 0 };
  version = 0;
  readonly #listeners = new Set<() => void>();
  readonly #closed = new AbortController();
  readonly #channel: BroadcastChannel;
  #watch: Watch | undefined;
  #provisional: string | undefined;
  #last: { readonly message: Content | undefined; readonly options: RunOptions } | undefined;
  #opening: Promise<void> | undefined;
  #updatedAt = 0;
  #catching = false;

  constructor(key: SessionKey) {
    this.key = key;
    this.#channel = new BroadcastChannel(`session/${key.appName}/${key.userId}/${key.sessionId}`);
    this.#channel.addEventListener('message', () => void this.catchUp());
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  readonly getVersion = (): number => this.version;

  /** Reads the session, once, and joins its active run. Failures show in `load`. */
  open(): Promise<void> {
    this.#opening ??= this.#read();
    return this.#opening;
  }

  async #read(): Promise<void> {
    try {
      const { signal } = this.#closed;
      const end = await readSession(this.key, { recent: firstEvents, signal });
      this.#take(end);
      this.#tell();
      if (end.events.length >= firstEvents) {
        await new Promise((resolve) => setTimeout(resolve, restAfterMs));
        this.#take(await readSession(this.key, { signal }));
      }
    } catch (error) {
      if (isAbort(error)) return;
      this.load = { status: error instanceof ApiError && error.status === 404 ? 'missing' : 'failed', error };
    }
    this.#tell();
    void this.#joinRunning(); // it lasts as long as the run
  }

  /** Closes the session; its runs continue on the server. */
  close(): void {
    this.#closed.abort();
    this.#watch?.leaving.abort();
    this.#channel.close();
  }

  /** Cancels the active run on the server. */
  async stop(): Promise<void> {
    const watch = this.#watch;
    if (!watch || watch.stopped) return;
    watch.stopped = true;
    try {
      // Before the first response the id of the run is unknown: find it, or the run would continue.
      const runId = watch.runId ?? (await findRunning(this.key, this.#closed.signal))?.id;
      if (runId !== undefined) await cancelRun(this.key, runId);
    } catch {
      // the run has ended already: only the connection is left to close
    }
    watch.leaving.abort();
  }

  /** Sends a message and shows the events of its run. Resolves when the run ends; failures show in `run`. */
  async send(message: Content | undefined, options: RunOptions = {}): Promise<void> {
    if (this.#watch) return;
    this.#last = { message, options };
    const { streaming = true, ...rest } = options;
    const before = this.log.events.length;
    if (message) this.#showMessage(message);
    const body = { ...this.key, streaming, ...rest, ...(message && { newMessage: message }) };
    await this.#follow(before, (signal) => startRun(body, signal));
  }

  /** Whether the message of the run that failed can be sent again. */
  get canRetry(): boolean {
    return this.#last !== undefined && this.#watch === undefined;
  }

  /** Sends the message of the last run again. */
  async retry(): Promise<void> {
    if (this.#last) await this.send(this.#last.message, this.#last.options);
  }

  /** Reads events that other clients added, and joins runs that they started. Ignores a server that is away. */
  async catchUp(): Promise<void> {
    if (this.#watch || this.#catching || this.load.status !== 'ready') return;
    this.#catching = true;
    try {
      await this.#reconcile(this.log.events.length, true);
    } finally {
      this.#catching = false;
    }
    await this.#joinRunning();
  }

  /** Reads the whole session again. */
  async reload(): Promise<void> {
    this.#take(await readSession(this.key, { signal: this.#closed.signal }));
    this.#tell();
  }

  /** Follows the active run, which another client or an earlier page started. */
  async #joinRunning(): Promise<void> {
    if (this.load.status !== 'ready') return;
    const running = await findRunning(this.key, this.#closed.signal).catch(() => undefined); // a server without runs
    if (!running || this.#watch) return;
    await this.#follow(this.log.events.length, (signal) => joinRun(this.key, running.id, undefined, signal));
  }

  async #follow(from: number, begin: (signal: AbortSignal) => Promise<RunFeed>): Promise<void> {
    const leaving = new AbortController();
    const watch: Watch = { leaving, runId: undefined, stopped: false };
    this.#watch = watch;
    this.#setRun({ status: 'running', events: 0 });
    const batch = new Batch<Event>((events) => {
      this.log.append(events);
      announceRun(events);
      this.#setRun({ ...this.run, events: this.run.events + events.filter((event) => !event.partial).length });
    });
    const onLink = (runId: string | undefined, connected: boolean): void => {
      watch.runId = runId;
      this.#setRun({ ...this.run, reconnecting: !connected });
      if (connected) this.#channel.postMessage('started');
    };
    try {
      const feed = await begin(leaving.signal);
      for await (const events of followRun(feed, { key: this.key, signal: leaving.signal, onLink })) batch.add(events);
      batch.flush();
      this.#setRun({ status: watch.stopped ? 'stopped' : 'idle', events: this.run.events });
    } catch (error) {
      batch.flush();
      const cancelled = error instanceof ApiError && error.code === 'run_cancelled'; // by another client
      if (leaving.signal.aborted || watch.stopped || cancelled)
        this.#setRun({ status: 'stopped', events: this.run.events });
      else this.#setRun({ status: 'failed', events: this.run.events, error });
    } finally {
      this.log.hush();
      if (!this.#closed.signal.aborted) {
        await this.#reconcile(from);
        this.#channel.postMessage('changed');
      }
      this.#watch = undefined;
      this.#tell();
    }
  }

  /** Shows the message until its stored event is known. */
  #showMessage(content: Content): void {
    const id = `provisional-${crypto.randomUUID()}`;
    this.#provisional = id;
    const actions = { stateDelta: {}, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} };
    this.log.append([{ id, invocationId: id, author: 'user', timestamp: Date.now() / 1000, content, actions }]);
  }

  /** Replaces provisional events with the stored ones, and adds events that were not streamed. */
  async #reconcile(from: number, quiet = false): Promise<void> {
    try {
      const recent = this.log.events.length - from + slack;
      const session = await readSession(this.key, { recent, signal: this.#closed.signal });
      if (quiet && (this.#watch || session.lastUpdateTime === this.#updatedAt)) return; // a stream brings them
      this.#updatedAt = session.lastUpdateTime;
      const last = this.log.events[from - 1]?.id;
      const at = last === undefined ? 0 : session.events.findIndex(({ id }) => id === last) + 1;
      if (at === 0 && last !== undefined) {
        this.#take(await readSession(this.key, { signal: this.#closed.signal }));
      } else this.#adopt(from, session.events.slice(at));
      this.#provisional = undefined;
      this.log.setState(session.state);
      this.#tell();
    } catch (error) {
      if (!quiet && !isAbort(error) && this.run.status !== 'failed')
        this.#setRun({ ...this.run, status: 'failed', error });
    }
  }

  /** Replaces the events from a position on with stored ones. Events that are shown but not stored follow them. */
  #adopt(from: number, stored: readonly Event[]): void {
    const provisional = this.#provisional;
    if (provisional === undefined) {
      this.log.append(stored);
      return;
    }
    const ids = new Set(stored.map(({ id }) => id));
    const hasMessage = stored.some(({ author }) => author === 'user');
    const shown = this.log.events.slice(from).filter(({ id }) => !ids.has(id));
    this.log.truncate(from, [...stored, ...shown.filter(({ id }) => id !== provisional || !hasMessage)]);
  }

  #take(session: Session): void {
    this.log.reset(session.events, session.state);
    this.#updatedAt = session.lastUpdateTime;
    this.load = { status: 'ready' };
  }

  #setRun(run: RunState): void {
    this.run = run;
    this.#tell();
  }

  #tell(): void {
    this.version += 1;
    for (const listener of this.#listeners) listener();
  }
}
