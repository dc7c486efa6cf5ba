import { stripTypeScriptTypes } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import variant from '@jitl/quickjs-ng-wasmfile-release-sync';
import { type QuickJSSyncVariant, newQuickJSWASMModuleFromVariant } from 'quickjs-emscripten-core';
import { limitMemory } from './interpreter-memory.ts';
import { JavascriptMachine } from './javascript-machine.ts';
import type { WorkerJob, WorkerReply, WorkerStart } from './worker-messages.ts';

// The entry of a worker thread: an interpreter that knows nothing of Node, run beside the event loop of the server.

/** What the interpreter is given at its start, in the version we are tested with. */
const initialBytes = 16 * 1024 * 1024;

// What our own code started us with.
const start = workerData as WorkerStart;
// The interpreter counts what it allocates. This is for what it might forget to count.
const memory = limitMemory(start.memoryBytes, initialBytes);
const quickjs = await newQuickJSWASMModuleFromVariant(variant as unknown as QuickJSSyncVariant);
const machine = new JavascriptMachine(quickjs, start);
memory.begin();
// A thread's port is no window: it has no origin.
// oxlint-disable-next-line unicorn/require-post-message-target-origin
const say = (reply: WorkerReply): void => parentPort?.postMessage(reply);

parentPort?.on('message', (job: WorkerJob) => {
  const isTyped = job.language === 'typescript' || job.language === 'ts';
  try {
    say(machine.run(isTyped ? { ...job, code: stripTypeScriptTypes(job.code) } : job));
  } catch (error) {
    say({ kind: 'done', stdout: '', stderr: String(error), files: [] });
  }
});
say({ kind: 'ready' });
