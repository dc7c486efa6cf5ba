import type { QuickJSContext, QuickJSHandle, QuickJSRuntime, QuickJSWASMModule } from 'quickjs-emscripten-core';
import { FileBox } from '../file-box.ts';
import { cutText, OutputText } from '../output-text.ts';
import type { WorkerJob, WorkerResult, WorkerStart } from '../worker-messages.ts';
import { javascriptPrelude } from './javascript-prelude.ts';

const stackBytes = 512 * 1024;
const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** A JavaScript interpreter with its own console, files and timers. It frees nothing: its memory goes when its thread ends. */
export class JavascriptMachine {
  readonly #runtime: QuickJSRuntime;
  readonly #context: QuickJSContext;
  readonly #drive: QuickJSHandle;
  readonly #output: OutputText;
  readonly #files: FileBox;
  readonly #interrupt: Int32Array;
  readonly #setup: WorkerStart;

  constructor(quickjs: QuickJSWASMModule, setup: WorkerStart) {
    this.#setup = setup;
    this.#interrupt = new Int32Array(setup.interrupt);
    this.#output = new OutputText(setup.maxOutputBytes);
    this.#files = new FileBox(setup);
    this.#runtime = quickjs.newRuntime();
    this.#runtime.setMaxStackSize(stackBytes);
    this.#runtime.setInterruptHandler(() => this.#isInterrupted());
    this.#context = this.#runtime.newContext();
    this.#drive = this.#installPrelude();
    this.#runtime.setMemoryLimit(setup.memoryBytes);
  }

  /** Executes code, then its pending promises and timers, until none is left or it is interrupted. */
  run(job: WorkerJob): WorkerResult {
    this.#files.open(job.files);
    const fault = this.#evaluate(job.code);
    this.#call('clear');
    const stderr = fault === undefined ? '' : cutText(fault, this.#setup.maxOutputBytes);
    return { kind: 'done', stdout: this.#output.take(), stderr, files: this.#files.written() };
  }

  /** Returns the error text, if the code failed. */
  #evaluate(code: string): string | undefined {
    // Only a module may use top-level await. A module's declarations are local to it, so other code runs as a script.
    const type = /\bawait\b|^\s*(?:import|export)\b/m.test(code) ? 'module' : 'global';
    const result = this.#context.evalCode(code, 'code.js', { type });
    if (result.error) return this.#describe(result.error);
    for (;;) {
      const jobs = this.#runtime.executePendingJobs();
      if (jobs.error) return this.#describe(jobs.error);
      const state = this.#context.getPromiseState(result.value);
      if (state.type === 'rejected') return this.#describe(state.error);
      const timer = this.#call('runTimer');
      if (typeof timer === 'string') return timer;
      const wait = this.#context.getNumber(timer);
      if (wait < 0) {
        return state.type === 'pending' ? 'Error: the code awaits something that never happens' : undefined;
      }
      if (wait > 0) Atomics.wait(this.#interrupt, 0, 0, wait);
      if (this.#isInterrupted()) return 'Interrupted';
    }
  }

  /** Calls a function of the prelude. Returns the error text if it failed. */
  #call(name: string, ...args: QuickJSHandle[]): QuickJSHandle | string {
    const result = this.#context.callMethod(this.#drive, name, args);
    return result.error ? this.#describe(result.error) : result.value;
  }

  #describe(error: QuickJSHandle): string {
    const described = this.#context.callMethod(this.#drive, 'describe', [error]);
    if (!described.error) return this.#context.getString(described.value);
    return this.#isInterrupted() ? 'Interrupted' : 'Error: the code failed, and its error cannot be read';
  }

  #isInterrupted(): boolean {
    return Atomics.load(this.#interrupt, 0) !== 0;
  }

  #installPrelude(): QuickJSHandle {
    const context = this.#context;
    const host = context.newObject();
    for (const [name, run] of Object.entries(this.#functions())) {
      context.setProp(host, name, context.newFunction(name, run));
    }
    const prelude = context.unwrapResult(context.evalCode(javascriptPrelude, 'sandbox.js'));
    return context.unwrapResult(context.callFunction(prelude, context.undefined, host));
  }

  /** All functions that the code can call outside the interpreter: they reach its own output and files only. */
  #functions(): Record<string, (...args: QuickJSHandle[]) => QuickJSHandle> {
    const context = this.#context;
    const files = this.#files;
    const textOf = (handle?: QuickJSHandle): string => (handle ? context.getString(handle) : '');
    return {
      print: (text) => {
        this.#output.add(textOf(text));
        return context.undefined;
      },
      list: () => context.newString(files.names().join('\n')),
      readText: (name) => context.newString(decoder.decode(files.read(textOf(name)))),
      readBytes: (name) => context.newArrayBuffer(files.read(textOf(name)).slice().buffer),
      writeText: (name, type, text) => {
        files.write(textOf(name), encoder.encode(textOf(text)), textOf(type) || undefined);
        return context.undefined;
      },
      writeBytes: (name, type, data) => {
        const bytes = data ? context.getArrayBuffer(data).value.slice() : new Uint8Array();
        files.write(textOf(name), bytes, textOf(type) || undefined);
        return context.undefined;
      },
    };
  }
}
