import { parentPort, workerData } from 'node:worker_threads';
import type { WorkerJob, WorkerReply, WorkerStart } from '../worker-messages.ts';
import { PythonMachine } from './python-machine.ts';

// The entry of a worker thread: CPython, with every way out of it closed before any code runs.

const port = parentPort;
const say = (reply: WorkerReply): void => port?.postMessage(reply);

try {
  // Passed by `inThread`.
  const machine = await PythonMachine.start(workerData as WorkerStart);
  port?.on('message', (job: WorkerJob) => {
    machine.run(job).then(say, (error: unknown) => {
      // The interpreter itself crashed and cannot run more code.
      say({ kind: 'done', stdout: '', stderr: `Error: ${String(error)}`, files: [] });
      port.close();
    });
  });
  say({ kind: 'ready' });
} catch (error) {
  say({ kind: 'failed', message: error instanceof Error ? (error.stack ?? '') : String(error) });
}
