import { Worker } from 'node:worker_threads';
import { AppError } from '../base/errors.ts';
import type { SandboxSettings } from './sandbox-options.ts';
import { interruptNow, WorkerReply, type WorkerJob, type WorkerSetup } from './worker-messages.ts';

/** How long an interpreter may take to load, and an interrupted one to stop by itself. */
const loadMs = 60_000;
const graceMs = 1000;
/** For what an interpreter needs beside the memory of the code. */
const ownHeapMb = 256;

type Done = Extract<WorkerReply, { kind: 'done' }>;
type Ending = { readonly kind: 'ended'; readonly why: 'closed' | 'memory' | 'time' | 'crash' };

/** One interpreter in a worker thread. What runs in it can be ended at any moment, endless loops included. */
export class SandboxThread {
  readonly #worker: Worker;
  readonly #interrupt = new Int32Array(new SharedArrayBuffer(4));
  readonly #settings: SandboxSettings;
  readonly #isReady: Promise<WorkerReply | Ending>;
  #answer: ((reply: WorkerReply | Ending) => void) | undefined;
  #ending: Ending | undefined;

  constructor(entry: URL, settings: SandboxSettings) {
    this.#settings = settings;
    const setup: WorkerSetup = {
      memoryBytes: settings.memoryMb * 1024 * 1024,
      maxOutputBytes: settings.maxOutputBytes,
      maxFiles: settings.maxFiles,
      maxFileBytes: settings.maxFileBytes,
      interrupt: this.#interrupt.buffer,
    };
    this.#worker = new Worker(entry, {
      workerData: setup,
      env: {},
      execArgv: [],
      argv: [],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: ownHeapMb },
    });
    // A warning of the runtime is of no use to anybody, and must not pile up.
    this.#worker.stdout.resume();
    this.#worker.stderr.resume();
    this.#worker.on('message', (message: unknown) => {
      const reply = WorkerReply.safeParse(message);
      if (reply.success) this.#answer?.(reply.data);
      else this.#end('crash');
    });
    this.#worker.on('error', (error: NodeJS.ErrnoException) => {
      this.#end(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'crash');
    });
    this.#worker.on('exit', () => this.#end('crash'));
    this.#isReady = this.#reply(loadMs);
  }

  get isGone(): boolean {
    return this.#ending !== undefined;
  }

  /**
   * Runs one piece of code; one at a time. Code that takes too long is a result with what it printed so far. Throws
   * the signal's reason when that aborts, and AppError when the interpreter cannot be loaded.
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

  /** Ends the thread at once, whatever it does. */
  async close(): Promise<void> {
    this.#end('closed');
    await this.#worker.terminate();
  }

  async #exchange(job: WorkerJob): Promise<WorkerReply | Ending> {
    const { timeoutMs } = this.#settings;
    let isLate = false;
    Atomics.store(this.#interrupt, 0, 0);
    const interrupt = setTimeout(() => {
      isLate = true;
      Atomics.store(this.#interrupt, 0, interruptNow);
      Atomics.notify(this.#interrupt, 0);
    }, timeoutMs);
    try {
      const replied = this.#reply(timeoutMs + graceMs);
      // A thread is no window: it has no origin.
      // oxlint-disable-next-line unicorn/require-post-message-target-origin
      if (!this.isGone) this.#worker.postMessage(job);
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
    // Nobody waits for the thread here; terminating one that is gone already does nothing, and neither can fail.
    void this.#worker.terminate();
  }

  #explain({ why }: Ending): string {
    if (why === 'time') return this.#tooLong;
    if (why === 'memory') return 'MemoryError: the code took too much memory and was stopped';
    return why === 'closed' ? 'Error: the sandbox was closed' : 'Error: the sandbox broke down while the code ran';
  }

  get #tooLong(): string {
    return `TimeoutError: the code ran longer than ${this.#settings.timeoutMs / 1000} s and was stopped`;
  }
}
