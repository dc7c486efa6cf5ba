import { pino } from 'pino';
import { redact } from '../base/redact.ts';
import type { Config } from './config.ts';

/** Characters buffered for a full disk or a slow reader; further lines are dropped. */
const maxLength = 4 * 1024 * 1024;

/**
 * The log: JSON lines on stderr, secrets removed. Flush it before the process ends. In the process of another program
 * (`isOwnProcess` false) it writes at once, because only then it needs no handler of the process's end.
 */
export function createLog(level: Config['logLevel'], { isOwnProcess = true } = {}): pino.Logger {
  const destination = pino.destination({ dest: 2, sync: !isOwnProcess, maxLength });
  // The server continues when the reader of the log has gone away.
  destination.on('error', () => {});
  return pino(
    { level, base: null, serializers: { err: errorFields }, formatters: { log: withoutSecrets } },
    destination,
  );
}

function errorFields(error: unknown): object {
  if (!(error instanceof Error)) return { message: redact(String(error)) };
  const code = 'code' in error ? { code: String(error.code) } : {};
  const cause = error.cause === undefined ? {} : { cause: errorFields(error.cause) };
  return { type: error.name, ...code, message: redact(error.message), stack: redact(error.stack ?? ''), ...cause };
}

function withoutSecrets(fields: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(fields).map(([key, value]) => [
    key,
    typeof value === 'string' ? redact(value) : value,
  ]);
  return Object.fromEntries(entries) as Record<string, unknown>;
}
