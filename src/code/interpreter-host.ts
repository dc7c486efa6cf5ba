import { fork } from 'node:child_process';
import { Worker } from 'node:worker_threads';
import type { WorkerJob, WorkerSetup } from './worker-messages.ts';

/** Megabytes of JavaScript heap for the interpreter itself, beside the memory of the code. */
const ownHeapMb = 256;

export type EndReason = 'closed' | 'memory' | 'time' | 'crash';

/** Runs an interpreter: a thread, or a separate process. */
export interface InterpreterHost {
  post(job: WorkerJob): void;
  /** 0 clears an earlier interrupt. */
  interrupt(signal: number): void;
  /** Ends the interpreter at once, even in an endless loop. */
  kill(): Promise<unknown>;
}

export interface HostEvents {
  /** The message is not validated yet. */
  readonly onMessage: (message: unknown) => void;
  readonly onEnd: (why: EndReason) => void;
}

export type StartHost = (setup: WorkerSetup, events: HostEvents) => InterpreterHost;

/** Starts a file as a worker thread. Bounds its JavaScript heap; the interpreter has to bound its other memory itself. */
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
    // Discards warnings of the runtime, which would pile up in memory.
    worker.stdout.resume();
    worker.stderr.resume();
    worker.on('message', onMessage);
    worker.on('error', (error: NodeJS.ErrnoException) => {
      onEnd(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'crash');
    });
    worker.on('exit', () => onEnd('crash'));
    return {
      // A thread has no origin, unlike a window.
      // oxlint-disable-next-line unicorn/require-post-message-target-origin
      post: (job) => worker.postMessage(job),
      interrupt: (signal) => {
        Atomics.store(interrupt, 0, signal);
        Atomics.notify(interrupt, 0);
      },
      kill: () => worker.terminate(),
    };
  };

/** A message to the process. */
export type ProcessCommand =
  | { readonly setup: WorkerSetup }
  | { readonly job: WorkerJob }
  | { readonly interrupt: number };

/** The exit code of a process that exceeded its memory limit. */
export const memoryExitCode = 77;

/**
 * Starts a process that runs the thread and watches the memory of both: for interpreters whose code can allocate memory
 * that no limit inside a process covers.
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
        // `kill` was not called: the operating system ran out of memory.
        onEnd(code === memoryExitCode || signal === 'SIGKILL' ? 'memory' : 'crash');
        resolve();
      });
      child.once('error', () => {
        onEnd('crash');
        resolve();
      });
    });
    child.on('message', onMessage);
    const send = (command: ProcessCommand): void => {
      // Sending to an ended process fails; the `exit` event reports that end.
      if (child.connected) child.send(command, () => {});
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
