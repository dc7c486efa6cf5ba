import type { Content } from '../../../src/schemas/content.ts';
import type { Event } from '../../../src/schemas/event.ts';
import type { RunRequest } from '../../../src/schemas/run.ts';
import type { Session, SessionKey } from '../../../src/schemas/session.ts';
import { runAgent } from '../api/runs.ts';
import { ApiError, isAbort } from '../api/server.ts';
import { readSession } from '../api/sessions.ts';
import { EventLog } from '../log/event-log.ts';
import { Batch } from './batch.ts';

/** How the session came up. */
export type LoadStatus = 'loading' | 'ready' | 'missing' | 'failed';

export interface RunState {
  readonly status: 'idle' | 'running' | 'stopped' | 'failed';
  readonly error?: unknown;
  /** Events the run has made so far. */
  readonly events: number;
}

export type RunOptions = Pick<RunRequest, 'runConfig' | 'stateDelta' | 'functionCallEventId' | 'invocationId'> & {
  readonly streaming?: boolean;
};

/** Events a run may have stored besides those that were streamed. */
const slack = 8;

/** One session on the screen: its log, how it came up, and the run in progress. */
export class Workspace {
  readonly key: SessionKey;
  readonly log = new EventLog();
  load: { readonly status: LoadStatus; readonly error?: unknown } = { status: 'loading' };
  run: RunState = { status: 'idle', events: 0 };
  version = 0;
  readonly #listeners = new Set<() => void>();
  readonly #closed = new AbortController();
  readonly #channel: BroadcastChannel;
  #running: AbortController | undefined;
  #provisional: string | undefined;
  #last: { readonly message: Content | undefined; readonly options: RunOptions } | undefined;
  #opening: Promise<void> | undefined;

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

  /** Reads the session, once. Failures show in `load`. */
  open(): Promise<void> {
    this.#opening ??= this.#read();
    return this.#opening;
  }

  async #read(): Promise<void> {
    try {
      this.#take(await readSession(this.key, { signal: this.#closed.signal }));
    } catch (error) {
      if (isAbort(error)) return;
      this.load = { status: error instanceof ApiError && error.status === 404 ? 'missing' : 'failed', error };
    }
    this.#tell();
  }

  /** Leaves the session: what runs goes on without us. */
  close(): void {
    this.#closed.abort();
    this.#channel.close();
  }

  /** Stops the run in progress: the server cancels it when its client leaves. */
  stop(): void {
    this.#running?.abort();
  }

  /** Sends a message and shows what comes back. Resolves when the run is over; failures show in `run`. */
  async send(message: Content | undefined, options: RunOptions = {}): Promise<void> {
    if (this.#running) return;
    const running = new AbortController();
    this.#running = running;
    this.#last = { message, options };
    const before = this.log.events.length;
    if (message) this.#showMessage(message);
    this.#setRun({ status: 'running', events: 0 });
    const batch = new Batch<Event>((events) => {
      this.log.append(events);
      this.#setRun({ status: 'running', events: this.run.events + events.filter((event) => !event.partial).length });
    });
    try {
      const { streaming = true, ...rest } = options;
      const body = { ...this.key, streaming, ...rest, ...(message && { newMessage: message }) };
      for await (const events of runAgent(body, running.signal)) batch.add(events);
      batch.flush();
      this.#setRun({ status: 'idle', events: this.run.events });
    } catch (error) {
      batch.flush();
      const stopped = running.signal.aborted;
      this.#setRun({ status: stopped ? 'stopped' : 'failed', events: this.run.events, ...(!stopped && { error }) });
    } finally {
      this.#running = undefined;
      this.log.hush();
      await this.#reconcile(before);
      this.#channel.postMessage('changed');
    }
  }

  /** Whether the message of the run that failed can be sent again. */
  get canRetry(): boolean {
    return this.#last !== undefined && this.#running === undefined;
  }

  /** Sends the message of the last run again. */
  async retry(): Promise<void> {
    if (this.#last) await this.send(this.#last.message, this.#last.options);
  }

  /** Reads what others added to the session since. */
  async catchUp(): Promise<void> {
    if (this.#running || this.load.status !== 'ready') return;
    await this.#reconcile(this.log.events.length);
  }

  /** Reads the session again, whatever is shown. */
  async reload(): Promise<void> {
    this.#take(await readSession(this.key, { signal: this.#closed.signal }));
    this.#tell();
  }

  /** The message as it will be stored, until the stored one is known. */
  #showMessage(content: Content): void {
    const id = `provisional-${crypto.randomUUID()}`;
    this.#provisional = id;
    const actions = { stateDelta: {}, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} };
    this.log.append([{ id, invocationId: id, author: 'user', timestamp: Date.now() / 1000, content, actions }]);
  }

  /** Puts stored events in the place of what was shown early, and adds what was not streamed. */
  async #reconcile(from: number): Promise<void> {
    try {
      const recent = this.log.events.length - from + slack;
      const session = await readSession(this.key, { recent, signal: this.#closed.signal });
      const known = this.log.events.slice(0, from);
      const last = known.at(-1)?.id;
      const at = last === undefined ? 0 : session.events.findIndex(({ id }) => id === last) + 1;
      if (at === 0 && last !== undefined) {
        await this.reload();
        return;
      }
      const news = session.events.slice(at);
      const provisional = this.#provisional;
      if (provisional === undefined) this.log.append(news);
      else {
        const stored = new Set(news.map(({ id }) => id));
        const hasMessage = news.some(({ author }) => author === 'user');
        const shown = this.log.events.slice(from).filter(({ id }) => !stored.has(id));
        this.log.truncate(from, [...news, ...shown.filter(({ id }) => id !== provisional || !hasMessage)]);
      }
      this.#provisional = undefined;
      this.log.setState(session.state);
      this.#tell();
    } catch (error) {
      if (!isAbort(error) && this.run.status !== 'failed') this.#setRun({ ...this.run, status: 'failed', error });
    }
  }

  #take(session: Session): void {
    this.log.reset(session.events, session.state);
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
