import { Buffer } from 'node:buffer';
import { Semaphore } from '../base/semaphore.ts';
import type { CodeExecutionInput, CodeExecutionOutput } from '../core/code-executor.ts';
import type { RunContext } from '../core/runtime.ts';
import type { StartHost } from './interpreter-host.ts';
import { Interpreter } from './interpreter.ts';
import type { SandboxSettings } from './sandbox-options.ts';
import type { WorkerFile, WorkerJob } from './worker-messages.ts';

interface KeptInterpreter {
  /** Executions of one session run one after the other. */
  readonly lock: Semaphore;
  interpreter: Interpreter | undefined;
}

/**
 * Runs code in interpreters: a thread for JavaScript, a process for Python. An interpreter ends with its code, or stays for
 * executions with the same execution id. Interpreters start on demand, and their number is bounded. The values of all
 * limits are in `sandbox-options.ts`; `interpreter.ts` enforces time, `interpreter-memory.ts` memory, and for a process as a
 * whole `python/python-process.ts`.
 */
export class Sandbox {
  readonly #start: StartHost;
  readonly #settings: SandboxSettings;
  readonly #places: Semaphore;
  readonly #running = new Set<Interpreter>();
  /** By execution id, the most recently used at the end. */
  readonly #sessions = new Map<string, KeptInterpreter>();

  constructor(start: StartHost, settings: SandboxSettings) {
    this.#start = start;
    this.#settings = settings;
    this.#places = new Semaphore(settings.maxConcurrent);
  }

  /** Executes code. Throws AppError when the sandbox cannot start, and the signal's reason when it aborts. */
  async run(input: CodeExecutionInput, language: string, ctx: RunContext): Promise<CodeExecutionOutput> {
    const job = { code: input.code, language, files: input.inputFiles.map(toWorker) };
    const { executionId } = input;
    return executionId === undefined
      ? await this.#runOnce(job, ctx.signal)
      : await this.#runIn(sessionKey(executionId, ctx), job, ctx.signal);
  }

  /** Ends all interpreters and the code in them. The sandbox can be used again, because several agents may share it. */
  async close(): Promise<void> {
    const held = [...this.#sessions.values()].flatMap(({ interpreter }) => interpreter ?? []);
    this.#sessions.clear();
    await Promise.all([...new Set([...held, ...this.#running])].map((interpreter) => interpreter.close()));
  }

  async #runOnce(job: WorkerJob, signal: AbortSignal): Promise<CodeExecutionOutput> {
    await this.#places.acquire(signal);
    try {
      const interpreter = new Interpreter(this.#start, this.#settings);
      try {
        return await this.#runOn(interpreter, job, signal);
      } finally {
        await interpreter.close();
      }
    } finally {
      this.#places.release();
    }
  }

  async #runIn(key: string, job: WorkerJob, signal: AbortSignal): Promise<CodeExecutionOutput> {
    const session = this.#sessions.get(key) ?? { lock: new Semaphore(1), interpreter: undefined };
    this.#sessions.delete(key);
    this.#sessions.set(key, session);
    await session.lock.acquire(signal);
    try {
      await this.#places.acquire(signal);
      try {
        if (session.interpreter === undefined || session.interpreter.hasEnded) {
          session.interpreter = new Interpreter(this.#start, this.#settings);
        }
        return await this.#runOn(session.interpreter, job, signal);
      } finally {
        this.#places.release();
      }
    } finally {
      session.lock.release();
      // The session was closed during the execution, so nothing else would close its interpreter.
      if (this.#sessions.get(key) !== session && !session.lock.isExhausted) await session.interpreter?.close();
      await this.#closeSurplusSessions();
    }
  }

  async #runOn(interpreter: Interpreter, job: WorkerJob, signal: AbortSignal): Promise<CodeExecutionOutput> {
    this.#running.add(interpreter);
    try {
      const { stdout, stderr, files } = await interpreter.run(job, signal);
      return { stdout, stderr, outputFiles: files.map(fromWorker) };
    } finally {
      this.#running.delete(interpreter);
    }
  }

  /** Ends the sessions unused for longest when there are too many. */
  async #closeSurplusSessions(): Promise<void> {
    for (const [key, session] of this.#sessions) {
      if (this.#sessions.size <= this.#settings.maxSessions) return;
      if (session.lock.isExhausted) continue;
      this.#sessions.delete(key);
      await session.interpreter?.close();
    }
  }
}

/** Execution ids may repeat between users, who must not share variables. */
const sessionKey = (executionId: string, { session }: RunContext): string =>
  JSON.stringify([session.appName, session.userId, executionId]);

const toWorker = ({ name, mimeType, data }: CodeExecutionInput['inputFiles'][number]): WorkerFile => ({
  name,
  mimeType,
  bytes: new Uint8Array(Buffer.from(data, 'base64')),
});

const fromWorker = ({ name, mimeType, bytes }: WorkerFile): CodeExecutionOutput['outputFiles'][number] => ({
  name,
  mimeType,
  data: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64'),
});
