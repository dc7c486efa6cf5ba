import { describeError, type ErrorCode } from '../../base/errors.ts';

/** Code and reason of a close frame. */
export interface Closing {
  readonly code: number;
  readonly reason: string;
}

/** Longest reason of a close frame, in bytes of UTF-8. */
const maxReasonBytes = 123;

const codes: Partial<Record<ErrorCode, number>> = {
  session_not_found: 1002, // as the Python and Java servers close
  app_not_found: 1008,
  invalid_request: 1008,
  invalid_name: 1008,
  session_busy: 1013,
  queue_full: 1013,
  too_many_runs: 1013,
  unavailable: 1013,
  run_interrupted: 1001,
  run_cancelled: 1001,
};

/** The close frame for a run that failed. Details of unexpected errors stay in the log. */
export function closingFor(error: unknown): Closing {
  const { code, message } = describeError(error);
  return { code: codes[code] ?? 1011, reason: fitted(message) };
}

/** The text, cut between characters to the length of a reason. */
export function fitted(text: string): string {
  const bytes = Buffer.from(text.toWellFormed());
  if (bytes.length <= maxReasonBytes) return text.toWellFormed();
  let end = maxReasonBytes;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1; // inside a character
  return bytes.toString('utf8', 0, end);
}
