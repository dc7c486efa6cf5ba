import { randomUUID } from 'node:crypto';
import { isAbsolute, relative } from 'node:path';
import { diskFailure } from './disk-failure.ts';
import { AppError, errorText, httpStatus, placeSuffix } from './errors.ts';
import { redact } from './redact.ts';
import { framesOf, isAuthorFile, thrownAt } from './thrown-at.ts';

/** What the code of an author threw: its name (of errors), its message and its `file:line`, secrets removed. */
export interface ThrownDetail {
  readonly name?: string;
  readonly message: string;
  readonly where?: string;
}

/** Decides what callers may see of what the code of authors throws: agents, tools, callbacks, plugins, models, stores. */
export interface ErrorPolicy {
  /**
   * The error as callers may see it, the same each time. An AppError of our own stays as it is. Anything else becomes an
   * AppError with an id that the log explains: with name, message and place where the caller is the author, with
   * nothing of that elsewhere.
   */
  report(thrown: unknown): AppError;
  /** What the code of an author threw, where the caller is the author; else, and of errors of ours, `undefined`. */
  detail(thrown: unknown): ThrownDetail | undefined;
}

export interface ErrorPolicyOptions {
  /** Whether callers are authors: they see what their code threw, and where. */
  readonly showsThrown: boolean;
  /** Folders that files are named relative to, best first. Other files keep their absolute path. */
  readonly folders: readonly string[];
  /** Absent: there is no log, as in a terminal. */
  readonly log?: { error(fields: object, message: string): void } | undefined;
}

export function errorPolicy({ showsThrown, folders, log }: ErrorPolicyOptions): ErrorPolicy {
  const reports = new WeakMap<object, AppError>();
  const ids = new WeakMap<object, string>();
  const idOf = (thrown: unknown): string => {
    const known = isObject(thrown) ? ids.get(thrown) : undefined;
    if (known !== undefined) return known;
    const id = randomUUID();
    if (isObject(thrown)) ids.set(thrown, id);
    log?.error({ err: thrown, errorId: id }, 'internal error');
    return id;
  };
  const whereOf = (thrown: unknown): string | undefined => {
    const place = thrownAt(thrown);
    return place && redact(`${shortPath(place.file, folders)}:${place.line}`);
  };

  const reportOf = (thrown: unknown): AppError => {
    if (thrown instanceof AppError && thrown.publicMessage === undefined) {
      return showsThrown && isByAuthor(thrown) ? placed(thrown, whereOf(thrown)) : thrown;
    }
    const disk = thrownAt(thrown) ? undefined : diskFailure(thrown);
    if (disk) return disk;
    const wrapper = thrown instanceof AppError ? thrown : undefined;
    const cause = wrapper ? wrapper.cause : thrown;
    const { code = 'internal', publicMessage = 'Internal error' } = wrapper ?? {};
    const errorId = idOf(cause);
    if (!showsThrown) return new AppError(code, `${publicMessage} (id ${errorId})`, { errorId, publicMessage });
    const message = wrapper ? `${publicMessage}: ${thrownText(cause)}` : thrownText(cause);
    return placed(new AppError(code, message, { errorId, publicMessage }), whereOf(cause));
  };

  return {
    report(thrown) {
      if (!isObject(thrown)) return reportOf(thrown);
      if (thrown instanceof AppError && isReport(thrown)) return thrown;
      const known = reports.get(thrown);
      if (known) return known;
      const report = reportOf(thrown);
      reports.set(thrown, report);
      return report;
    },
    detail(thrown) {
      if (!showsThrown) return undefined;
      const where = whereOf(thrown);
      if (thrown instanceof AppError && where === undefined) return undefined;
      const name = thrown instanceof AppError ? '' : nameOf(thrown);
      return { ...(name !== '' && { name }), message: errorText(thrown), ...(where !== undefined && { where }) };
    },
  };
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const isReport = ({ where, errorId }: AppError): boolean => where !== undefined || errorId !== undefined;

/** Whether an AppError tells of a failure (others, such as `session_not_found`, are answers) and an author's code made it. */
function isByAuthor(error: AppError): boolean {
  if (httpStatus[error.code] !== 500) return false;
  const [first] = framesOf(error);
  return first !== undefined && isAuthorFile(first.file);
}

const placed = (error: AppError, where: string | undefined): AppError =>
  where === undefined
    ? error
    : new AppError(error.code, `${error.message}${placeSuffix(where)}`, {
        where,
        ...(error.errorId !== undefined && { errorId: error.errorId }),
        ...(error.publicMessage !== undefined && { publicMessage: error.publicMessage }),
        ...(error.retryAfter !== undefined && { retryAfter: error.retryAfter }),
      });

function nameOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? redact(thrown.name) : '';
  } catch {
    return ''; // an error whose properties throw
  }
}

/** The path relative to the first folder that holds it. */
function shortPath(file: string, folders: readonly string[]): string {
  for (const folder of folders) {
    const path = relative(folder, file);
    if (path !== '' && !path.startsWith('..') && !isAbsolute(path)) return path;
  }
  return file;
}

/** Causes that are told of: more say nothing new, and they may go in a circle. */
const maxCauses = 3;

/** An error's name and message, and those of its causes. */
function thrownText(thrown: unknown, depth = 0): string {
  try {
    if (!(thrown instanceof Error)) return `Something that is not an Error was thrown: ${errorText(thrown)}`;
    const own = thrown.message === '' ? nameOf(thrown) : `${nameOf(thrown)}: ${errorText(thrown)}`;
    const hasCause = thrown.cause !== undefined && depth < maxCauses;
    return hasCause ? `${own} (cause: ${thrownText(thrown.cause, depth + 1)})` : own;
  } catch {
    return errorText(thrown); // an error whose properties throw
  }
}
