import { AppError } from '../base/errors.ts';
import type { EndReason, InterpreterHost, StartHost } from './interpreter-host.ts';
import type { SandboxSettings } from './sandbox-options.ts';
import { interruptNow, isWithin, WorkerReply, type WorkerJob, type WorkerSetup } from './worker-messages.ts';

/** How long an interpreter may take to load, and to stop by itself after an interrupt. */
const loadMs = 60_000;
const graceMs = 1000;

type Done = Extract<WorkerReply, { kind: 'done' }>;
type Ending = { readonly kind: 'ended'; readonly why: EndReason };

/** One interpreter in a thread or a process. The code in it can be ended at any moment, even in an endless loop. */
export class Interpreter {
  readonly #host: InterpreterHost;
  readonly #settings: SandboxSettings;
  readonly #isReady: Promise<WorkerReply | Ending>;
  #answer: ((reply: WorkerReply | Ending) => void) | undefined;
  #ending: Ending | undefined;

  constructor(start: StartHost, settings: SandboxSettings) {
    this.#settings = settings;
    const setup: WorkerSetup = {
      memoryBytes: settings.memoryMb * 1024 * 1024,
      maxOutputBytes: settings.maxOutputBytes,
      maxFiles: settings.maxFiles,
      maxFileBytes: settings.maxFileBytes,
    };
    this.#host = start(setup, {
      onMessage: (message) => {
        const reply = WorkerReply.safeParse(message);
        if (reply.success && isWithin(reply.data, setup)) this.#answer?.(reply.data);
        else this.#end('crash');
      },
      onEnd: (why) => this.#end(why),
    });
    this.#isReady = this.#reply(loadMs);
  }

  get hasEnded(): boolean {
    return this.#ending !== undefined;
  }

  /**
   * Executes code; one call at a time. A timeout returns a result with the output so far. Throws the signal's reason when
   * it aborts, and AppError when the interpreter cannot be loaded.
   */
  async run(job: WorkerJob, signal: AbortSignal): Promise<Done> {
    const stop = (): void => this.#end('closed');
    signal.throwIfAborted();
    signal.addEventListener('abort', stop, { once: true });
    try {
      const ready = await this.#isReady;
      const reply = ready.kind === 'ready' ? await this.#exchange(job) : ready;
      signal.throwIfAborted();
      if (reply.kind === 'done') return reply;
      if (reply.kind === 'failed') throw new AppError('unavailable', `The sandbox cannot start: ${reply.message}`);
      const hasEnded = reply.kind === 'ended' && (ready !== reply || reply.why === 'closed');
      if (hasEnded) return { kind: 'done', stdout: '', stderr: this.#explain(reply), files: [] };
      throw new AppError('unavailable', 'The sandbox did not start');
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  /** Ends the interpreter at once, even in an endless loop. */
  async close(): Promise<void> {
    this.#end('closed');
    await this.#host.kill();
  }

  async #exchange(job: WorkerJob): Promise<WorkerReply | Ending> {
    const { timeoutMs } = this.#settings;
    let isLate = false;
    this.#host.interrupt(0);
    const interrupt = setTimeout(() => {
      isLate = true;
      this.#host.interrupt(interruptNow);
    }, timeoutMs);
    try {
      const replied = this.#reply(timeoutMs + graceMs);
      if (!this.hasEnded) this.#host.post(job);
      const reply = await replied;
      if (!isLate || reply.kind !== 'done') return reply;
      return { ...reply, stderr: this.#tooLong };
    } finally {
      clearTimeout(interrupt);
    }
  }

  #reply(withinMs: number): Promise<WorkerReply | Ending> {
    if (this.#ending) return Promise.resolve(this.#ending);
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#end('time'), withinMs);
      this.#answer = (reply) => {
        clearTimeout(timer);
        this.#answer = undefined;
        resolve(reply);
      };
    });
  }

  #end(why: Ending['why']): void {
    if (this.#ending) return;
    this.#ending = { kind: 'ended', why };
    this.#answer?.(this.#ending);
    // Not awaited: `kill` never rejects, and does nothing after the end.
    void this.#host.kill();
  }

  #explain({ why }: Ending): string {
    if (why === 'time') return this.#tooLong;
    if (why === 'memory') return 'MemoryError: the code exceeded its memory limit and was stopped';
    return why === 'closed' ? 'Error: the sandbox was closed' : 'Error: the sandbox crashed while the code ran';
  }

  get #tooLong(): string {
    return `TimeoutError: the code ran longer than ${this.#settings.timeoutMs / 1000} s and was stopped`;
  }
}
