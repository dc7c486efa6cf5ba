/** What the matchers look at; the answers of `wireClient` and of `sendRaw` both have it. */
interface AnswerLike {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: unknown;
}

declare module 'vitest' {
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> {
    /** The status is this one; a failure shows the body. */
    toHaveStatus(status: number): R;
    /** An RFC 9457 answer of this status (and code) that tells nothing about the inside of the server. */
    toBeProblem(status: number, code?: string): R;
    /** One of these statuses; from 400 up the answer must be a problem. */
    toBeAnyOf(statuses: readonly number[]): R;
  }
}

/** Marks of HTML pages, stacks and file paths. */
const betrayal = /<html|<!doctype|node_modules|node:internal|\/src\/|\.ts:\d|\n\s+at /i;

export const answerMatchers = {
  toHaveStatus: (answer: AnswerLike, status: number) => ({
    pass: answer.status === status,
    message: () => `expected status ${status}, got ${shown(answer)}`,
  }),
  toBeProblem: (answer: AnswerLike, status: number, code?: string) =>
    verdict(answer, problemFaults(answer, status, code)),
  toBeAnyOf: (answer: AnswerLike, statuses: readonly number[]) =>
    verdict(answer, [
      ...(statuses.includes(answer.status) ? [] : [`status is none of ${statuses.join(', ')}`]),
      ...(answer.status < 400 ? [] : problemFaults(answer, answer.status)),
    ]),
};

const shown = ({ status, text }: AnswerLike): string => `${status} ${text.slice(0, 500)}`;

const verdict = (answer: AnswerLike, faults: string[]): { pass: boolean; message: () => string } => ({
  pass: faults.length === 0,
  message: () => `${faults.join('; ')}: ${shown(answer)}`,
});

function problemFaults(answer: AnswerLike, status: number, code?: string): string[] {
  const faults: string[] = [];
  const demand = (holds: boolean, fault: string): void => void (holds || faults.push(fault));
  demand(answer.status === status, `status is not ${status}`);
  const type = answer.headers.get('content-type') ?? 'none';
  demand(type.startsWith('application/problem+json'), `content type is ${type}`);
  if (typeof answer.json !== 'object' || answer.json === null) return [...faults, 'body is no JSON object'];
  const problem = answer.json as Record<string, unknown>;
  for (const key of ['type', 'title', 'detail', 'error', 'code']) {
    demand(typeof problem[key] === 'string' && problem[key] !== '', `"${key}" is no text`);
  }
  // What could not be read as a request has no path to name.
  demand(/^(\/|undefined$)/.test(String(problem['instance'])), '"instance" is no path');
  demand(problem['status'] === answer.status, '"status" is not the status');
  demand(problem['error'] === problem['detail'], '"error" is not "detail"');
  demand(code === undefined || problem['code'] === code, `"code" is not ${code}`);
  // The path is the caller's own words.
  const { instance: _instance, ...told } = problem;
  demand(!betrayal.test(JSON.stringify(told)), 'the body shows the inside of the server');
  return faults;
}
