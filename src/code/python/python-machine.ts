import type { PyodideAPI } from 'pyodide';
import type { PyProxy } from 'pyodide/ffi';
import { FileBox } from '../file-box.ts';
import { limitMemory } from '../interpreter-memory.ts';
import { cutText, OutputText } from '../output-text.ts';
import type { WorkerJob, WorkerResult, WorkerStart } from '../worker-messages.ts';
import { PythonFiles } from './python-files.ts';
import { pythonPrelude } from './python-prelude.ts';
import { lockRealm } from './realm-lock.ts';

/** Initial memory of the interpreter, in the tested version. */
const initialBytes = 30 * 1024 * 1024;

type RunCode = (code: string) => Promise<string>;

/** A Python interpreter with its own working folder. */
export class PythonMachine {
  readonly #runCode: RunCode;
  readonly #setup: WorkerStart;
  readonly #output: OutputText;
  readonly #files: PythonFiles;

  private constructor(python: PyodideAPI, setup: WorkerStart) {
    // The prelude's function takes and returns a text.
    this.#runCode = python.runPython(pythonPrelude, { globals: python.toPy({}) as PyProxy }) as RunCode;
    this.#setup = setup;
    this.#output = new OutputText(setup.maxOutputBytes);
    this.#files = new PythonFiles(python, setup);
    const write = (bytes: Uint8Array): number => {
      this.#output.add(bytes);
      return bytes.length;
    };
    python.setStdout({ write });
    // Text on stderr, such as a warning, is no failure of the code: both streams form one output, in the order of printing.
    python.setStderr({ write });
    python.setStdin({ error: true });
    python.setInterruptBuffer(new Uint8Array(setup.interrupt));
  }

  /** Loads the interpreter, then locks the thread. */
  static async start(setup: WorkerStart): Promise<PythonMachine> {
    const memory = limitMemory(setup.memoryBytes, initialBytes);
    const { loadPyodide } = await import('pyodide');
    const timers = { setTimeout, clearTimeout };
    const python = await loadPyodide({ jsglobals: Object.assign(Object.create(null) as object, timers) });
    const machine = new PythonMachine(python, setup);
    Reflect.set(Reflect.get(python, '_api') as object, 'tests', undefined);
    python.unregisterJsModule('pyodide_js');
    lockRealm();
    memory.begin();
    return machine;
  }

  /** Executes code. Rejects when the interpreter itself crashes. */
  async run({ code, files }: WorkerJob): Promise<WorkerResult> {
    this.#files.open(files);
    let stderr = withoutOwnFrames(await this.#runCode(code));
    const box = new FileBox(this.#setup);
    try {
      this.#files.collect(box);
    } catch (error) {
      stderr ||= `OSError: ${error instanceof Error ? error.message : 'the files it wrote cannot be read'}`;
    }
    const fault = cutText(stderr, this.#setup.maxOutputBytes);
    return { kind: 'done', stdout: this.#output.take(), stderr: fault, files: box.written() };
  }
}

/** The traceback without the frames of the runtime. */
function withoutOwnFrames(message: string): string {
  const first = message.search(/^ *File "code\.py"/m);
  return first < 0 ? message.trimEnd() : `Traceback (most recent call last):\n${message.slice(first).trimEnd()}`;
}
