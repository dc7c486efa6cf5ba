import { createInterface, type Interface } from 'node:readline';
import { abortable } from '../base/abort.ts';

/** The user's input, line by line. */
export interface LineSource {
  /** Whether input and output are a terminal, so that a person can be asked. */
  readonly isTerminal: boolean;
  /** The next line; `undefined` at the end of input, and once `signal` aborts. */
  ask(prompt: string, signal: AbortSignal): Promise<string | undefined>;
  close(): void;
}

export interface LineStreams {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
}

/** Lines of a terminal or a pipe. Calls `onInterrupt` for Ctrl-C while a line is typed: the system sends no signal then. */
export function lineSource({ input, output }: LineStreams, onInterrupt: () => void): LineSource {
  return input.isTTY && output.isTTY ? terminalLines({ input, output }, onInterrupt) : pipedLines(input);
}

/**
 * Reads one line at a time and releases the terminal in between: Ctrl-C then reaches the process as a signal, and text
 * typed early is used for the next question.
 */
function terminalLines({ input, output }: LineStreams, onInterrupt: () => void): LineSource {
  const waiting: string[] = [];
  let history: string[] = [];
  return {
    isTerminal: true,
    async ask(prompt, signal) {
      const early = waiting.shift();
      if (early !== undefined) {
        output.write(`${prompt}${early}\n`);
        return early;
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      const reader = createInterface({ input, output, prompt, history, removeHistoryDuplicates: true });
      const leave = (): void => reader.close();
      let interrupted = false;
      reader.on('history', (lines) => (history = [...lines]));
      // Pasted lines arrive together: all are stored before the reader closes.
      reader.on('line', (line) => waiting.push(line) === 1 && setImmediate(leave));
      reader.once('SIGINT', () => {
        interrupted = true;
        onInterrupt();
        reader.close();
      });
      reader.once('close', resolve);
      signal.addEventListener('abort', leave, { once: true });
      reader.prompt();
      await promise;
      signal.removeEventListener('abort', leave);
      const line = waiting.shift();
      if (line === undefined) output.write(interrupted ? '^C\n' : '\n');
      return line;
    },
    close() {},
  };
}

function pipedLines(input: NodeJS.ReadStream): LineSource {
  let reader: Interface | undefined;
  let lines: AsyncIterator<string, unknown> | undefined;
  return {
    isTerminal: false,
    async ask(_prompt, signal) {
      reader ??= createInterface({ input });
      lines ??= reader[Symbol.asyncIterator]();
      try {
        const next = await abortable(lines.next(), signal);
        return next.done === true ? undefined : next.value;
      } catch (error) {
        if (signal.aborted) return undefined;
        throw error;
      }
    },
    close: () => reader?.close(),
  };
}
