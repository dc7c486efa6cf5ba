import { fork } from 'node:child_process';
import { Worker } from 'node:worker_threads';
import type { WorkerJob, WorkerSetup } from './worker-messages.ts';

/** For what an interpreter needs beside the memory of the code, in megabytes of JavaScript's own heap. */
const ownHeapMb = 256;

export type EndReason = 'closed' | 'memory' | 'time' | 'crash';

/** What an interpreter runs in: a thread, or a process of its own. */
export interface InterpreterHost {
  post(job: WorkerJob): void;
  /** 0 clears what was asked for before. */
  interrupt(signal: number): void;
  /** Ends it at once, whatever it does. */
  kill(): Promise<unknown>;
}

export interface HostEvents {
  /** Not checked yet. */
  readonly onMessage: (message: unknown) => void;
  readonly onEnd: (why: EndReason) => void;
}

export type StartHost = (setup: WorkerSetup, events: HostEvents) => InterpreterHost;

/** Starts the worker thread of a file. Its JavaScript heap is bounded; what an interpreter takes beside it, it has to bound itself. */
export const inThread =
  (entry: URL): StartHost =>
  (setup, { onMessage, onEnd }) => {
    const interrupt = new Int32Array(new SharedArrayBuffer(4));
    const worker = new Worker(entry, {
      workerData: { ...setup, interrupt: interrupt.buffer },
      env: {},
      execArgv: [],
      argv: [],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: ownHeapMb },
    });
    // A warning of the runtime is of no use to anybody, and must not pile up.
    worker.stdout.resume();
    worker.stderr.resume();
    worker.on('message', onMessage);
    worker.on('error', (error: NodeJS.ErrnoException) => {
      onEnd(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'crash');
    });
    worker.on('exit', () => onEnd('crash'));
    return {
      // A thread is no window: it has no origin.
      // oxlint-disable-next-line unicorn/require-post-message-target-origin
      post: (job) => worker.postMessage(job),
      interrupt: (signal) => {
        Atomics.store(interrupt, 0, signal);
        Atomics.notify(interrupt, 0);
      },
      kill: () => worker.terminate(),
    };
  };

/** What a process is sent. */
export type ProcessOrder =
  | { readonly setup: WorkerSetup }
  | { readonly job: WorkerJob }
  | { readonly interrupt: number };

/** The exit code of a process whose code took too much memory. */
export const tooMuchMemory = 77;

/**
 * Starts a process that holds the thread and watches how much memory both take: for interpreters whose code can get at
 * memory that nothing within a process bounds.
 */
export const inProcess =
  (entry: URL): StartHost =>
  (setup, { onMessage, onEnd }) => {
    const child = fork(entry, [], {
      env: {},
      execArgv: [`--max-old-space-size=${ownHeapMb}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const gone = new Promise<void>((resolve) => {
      child.once('exit', (code, signal) => {
        // Killed by nobody here: the system was short of memory.
        onEnd(code === tooMuchMemory || signal === 'SIGKILL' ? 'memory' : 'crash');
        resolve();
      });
      child.once('error', () => {
        onEnd('crash');
        resolve();
      });
    });
    child.on('message', onMessage);
    const send = (order: ProcessOrder): void => {
      // It fails for a process that is gone, which `exit` tells, too.
      if (child.connected) child.send(order, () => {});
    };
    send({ setup });
    return {
      post: (job) => send({ job }),
      interrupt: (signal) => send({ interrupt: signal }),
      kill: () => {
        child.kill('SIGKILL');
        return gone;
      },
    };
  };
