import { type Context, createContext, Script } from 'node:vm';
import { AppError } from './errors.ts';

/** How long one search may take, in milliseconds. It blocks the process. */
const limitMs = 50;
/** How often a search is tried that a busy machine gave too little of that time. */
const maxAttempts = 10;
/** Up to this length, in characters, a search for a simple pattern needs no time limit: it ends soon by itself. */
const shortText = 1_000;

const simple = new WeakMap<RegExp, boolean>();
let runner: ((work: () => unknown) => unknown) | undefined;

/**
 * `pattern.exec(text)` with a time limit, for a pattern from an author or a schema and an untrusted text: a text could
 * make a careless pattern such as `^(\w+\s?)+$` block the process. Throws `timed_out`. Patterns may use everything in
 * JavaScript, including look-around and back references, which linear-time engines lack.
 */
export function limitedExec(pattern: RegExp, text: string): RegExpExecArray | null {
  if (text.length <= shortText && isSimple(pattern)) return pattern.exec(text);
  runner ??= limitedRunner();
  return runner(() => pattern.exec(text)) as RegExpExecArray | null;
}

/**
 * Whether a search takes at most quadratic time: no more than one unbounded repetition, which is not of a group, no
 * counted repetitions and no back references.
 */
function isSimple(pattern: RegExp): boolean {
  const known = simple.get(pattern);
  if (known !== undefined) return known;
  const { source } = pattern;
  const isSo = !/\)[*+]|\{|\\[1-9k]/.test(source) && (source.match(/[*+]/g)?.length ?? 0) <= 1;
  simple.set(pattern, isSo);
  return isSo;
}

/** Node can stop JavaScript that runs too long, including a search, if it runs as a `vm` script. */
function limitedRunner(): (work: () => unknown) => unknown {
  const context: Context = createContext({ work: undefined });
  const script = new Script('work()');
  return (work) => {
    context['work'] = work;
    try {
      for (let attempt = 1; ; attempt += 1) {
        const before = process.threadCpuUsage();
        try {
          return script.runInContext(context, { timeout: limitMs });
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
          // The limit is of the clock: time in which the system ran other programs is not the search's.
          const { user, system } = process.threadCpuUsage(before);
          if ((user + system) / 1_000 > limitMs / 2 || attempt === maxAttempts)
            throw new AppError('timed_out', `A regular expression took longer than ${limitMs} ms`);
        }
      }
    } finally {
      context['work'] = undefined;
    }
  };
}
