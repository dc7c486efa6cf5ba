import type { Log } from '../core/log.ts';

const ownSources = new URL('../', import.meta.url).href;

/**
 * Whether an uncaught error comes from the server's own code, after which its state is unknown. Errors of agents and
 * their libraries (a timer that throws, a socket without a listener) affect one app: the others continue.
 */
export function isServerBug(error: unknown): boolean {
  const frames = error instanceof Error ? (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line)) : [];
  const first = frames.find((frame) => !frame.includes('node:') && !frame.includes('<anonymous>'));
  return first !== undefined && first.includes(ownSources) && !first.includes('/node_modules/');
}

/** Logs uncaught errors and unhandled rejections. Calls `onFatal` when the process should end. */
export function handleUncaughtErrors(log: Log, onFatal: () => void): void {
  process.on('unhandledRejection', (reason) => {
    log.error({ err: reason }, 'unhandled promise rejection');
  });
  process.on('uncaughtException', (error) => {
    log.error({ err: error }, 'uncaught error');
    if (isServerBug(error)) onFatal();
  });
}
