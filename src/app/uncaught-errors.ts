import type { Log } from '../http/deps.ts';

const ownSources = new URL('../', import.meta.url).href;

/**
 * Whether an error nobody caught comes from code of ours, after which nothing is certain. Errors of agents and of
 * their libraries (a timer that throws, a socket without a listener) concern one app: the others go on.
 */
export function isServerBug(error: unknown): boolean {
  const frames = error instanceof Error ? (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line)) : [];
  const first = frames.find((frame) => !frame.includes('node:') && !frame.includes('<anonymous>'));
  return first !== undefined && first.includes(ownSources) && !first.includes('/node_modules/');
}

/** Logs what nobody caught. `onFatal` is called when the process should end. */
export function handleUncaughtErrors(log: Log, onFatal: () => void): void {
  process.on('unhandledRejection', (reason) => {
    log.error({ err: reason }, 'a promise failed and nobody looked');
  });
  process.on('uncaughtException', (error) => {
    log.error({ err: error }, 'an error was thrown and nobody caught it');
    if (isServerBug(error)) onFatal();
  });
}
