import { stripTypeScriptTypes } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import variant from '@jitl/quickjs-ng-wasmfile-release-sync';
import { type QuickJSSyncVariant, newQuickJSWASMModuleFromVariant } from 'quickjs-emscripten-core';
import { limitMemory } from '../interpreter-memory.ts';
import type { WorkerJob, WorkerReply, WorkerStart } from '../worker-messages.ts';
import { JavascriptMachine } from './javascript-machine.ts';

// The entry of a worker thread: runs an interpreter without access to Node outside the server's event loop.

/** Initial memory of the interpreter, in the tested version. */
const initialBytes = 16 * 1024 * 1024;

// Passed by `inThread`.
const start = workerData as WorkerStart;
// The interpreter counts its allocations. This limits what it might not count.
const memory = limitMemory(start.memoryBytes, initialBytes);
const quickjs = await newQuickJSWASMModuleFromVariant(variant as unknown as QuickJSSyncVariant);
const machine = new JavascriptMachine(quickjs, start);
memory.begin();
// A thread's port has no origin, unlike a window.
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
