import { type Context, createContext, Script } from 'node:vm';
import { AppError } from './errors.ts';

/** How long one search may take, in milliseconds. Others wait for it. */
const limitMs = 50;
/** How often a search is tried that a busy machine gave too little of that time. */
const maxAttempts = 10;
/** Texts up to this length, in characters, are searched for simple patterns without a limit: that ends soon by itself. */
const shortText = 1_000;

const simple = new WeakMap<RegExp, boolean>();
let runner: ((work: () => unknown) => unknown) | undefined;

/**
 * What `pattern.exec(text)` gives, for a pattern of an author's or a schema's and a text of anybody's: no text may make
 * the search of a careless pattern, such as `^(\w+\s?)+$`, hold up the process. Throws `timed_out`. Patterns keep all
 * that JavaScript has, look-around and references back included, which engines of linear time do without.
 */
export function limitedExec(pattern: RegExp, text: string): RegExpExecArray | null {
  if (text.length <= shortText && isSimple(pattern)) return pattern.exec(text);
  runner ??= limitedRunner();
  return runner(() => pattern.exec(text)) as RegExpExecArray | null;
}

/**
 * Whether a search takes no longer than the square of the text's length: one unbounded repetition at most, not of a
 * group, no counted ones, and no reference back.
 */
function isSimple(pattern: RegExp): boolean {
  const known = simple.get(pattern);
  if (known !== undefined) return known;
  const { source } = pattern;
  const isSo = !/\)[*+]|\{|\\[1-9k]/.test(source) && (source.match(/[*+]/g)?.length ?? 0) <= 1;
  simple.set(pattern, isSo);
  return isSo;
}

/** Node can end JavaScript that runs too long, searches included, where it runs as a script of its own. */
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
            throw new AppError('timed_out', `A regular expression took longer than ${limitMs} ms on a text`);
        }
      }
    } finally {
      context['work'] = undefined;
    }
  };
}
