import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { provideAgentImports } from '../app/agent-imports.ts';
import { type Composed, compose } from '../app/compose.ts';
import { type Config, developmentOf } from '../app/config.ts';
import { knowsCallers } from '../app/engine.ts';
import { hostFault, listen } from '../app/listen.ts';
import { createLog } from '../app/log.ts';
import { handleUncaughtErrors } from '../app/uncaught-errors.ts';
import { AppError } from '../base/errors.ts';
import { isFolder } from '../loaders/agent-folders.ts';
import { banner } from './banner.ts';
import { UsageError } from './usage-error.ts';

export interface ServeOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
}

/** Longest time for closing after the shutdown grace of the runs. */
const closeReserveMs = 10_000;
/** Time until everything that starts with the server is loaded. */
const startupMs = 300;

/** Serves until a signal stops it; resolves with the exit code. Throws UsageError for settings that contradict each other. */
export async function serve(config: Config, { env, version }: ServeOptions): Promise<number> {
  checkSettings(config);
  provideAgentImports();
  const log = createLog(config.logLevel);
  const stopped = stopSignals(config.shutdownGrace + closeReserveMs);
  handleUncaughtErrors(log, () => stopped.fail());
  process.stdout.on('error', () => {}); // the reader of the banner may have closed the pipe

  let composed: Composed;
  try {
    composed = await compose(config, { env, log, version });
  } catch (error) {
    if (error instanceof AppError && error.code === 'ConfigurationException') throw new UsageError(error.message);
    throw error;
  }
  let bound: Awaited<ReturnType<typeof listen>>;
  try {
    bound = await listen(composed, config);
  } catch (error) {
    process.stderr.write(`${listenFault(error, config)}\n`);
    await composed.close();
    return 1;
  }
  const { address, port } = bound;
  const isForDevelopment = developmentOf(config, { callersKnown: knowsCallers(config, undefined) }).size > 0;
  process.stdout.write(
    banner({ version, agents: config.agents, apps: composed.apps, address, port, isForDevelopment }),
  );
  log.info({ host: address, port, agents: config.agents }, 'listening');
  releaseSpareMemory(startupMs);

  const code = await stopped.promise;
  log.info({}, 'shutting down');
  await composed.close();
  log.info({}, 'ended');
  await new Promise<void>((resolve) => log.flush(() => resolve()));
  return code;
}

function checkSettings(config: Config): void {
  const fault = hostFault(config, knowsCallers(config, undefined));
  if (fault !== undefined) throw new UsageError(fault);
  if (!isFolder(config.agents)) {
    throw new UsageError(
      `The agents folder "${config.agents}" does not exist: create it, or choose another with --agents DIR`,
    );
  }
}

/** Why the server cannot listen, in words. Throws an error that has nothing to do with the address. */
function listenFault(error: unknown, { host, port }: Config): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE')
    return `Port ${port} on ${host} is in use: stop the program that uses it, or choose another port with --port`;
  if (code === 'EACCES') return `Port ${port} needs more rights: choose another port with --port`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return `"${host}" is not an address of this machine`;
  throw error;
}

/** Resolves at the first SIGTERM or SIGINT with 0, or at `fail` with 1. A second signal ends the process at once. */
function stopSignals(patienceMs: number): { promise: Promise<number>; fail(): void } {
  const { promise, resolve } = Promise.withResolvers<number>();
  let stopping = false;
  const stop = (code: number): void => {
    if (stopping) return;
    stopping = true;
    resolve(code);
    setTimeout(() => process.exit(1), patienceMs).unref();
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stopping) process.exit(1);
      stop(0);
    });
  }
  return { promise, fail: () => stop(1) };
}

/** The `gc` of `--expose-gc`. The last-resort flavor also drops code caches, which V8 would otherwise keep. */
type Collect = (options: { type: 'major'; execution: 'async'; flavor: 'last-resort' }) => Promise<void>;

/**
 * Gives back the memory that loading code has taken: an idle server has 103 MB afterwards, and 141 without. It would
 * keep it, because where little is made, little garbage is collected. Takes some 50 ms, `delayMs` from now.
 */
function releaseSpareMemory(delayMs: number): void {
  const timer = setTimeout(() => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as Collect;
    setFlagsFromString('--no-expose-gc');
    void collect({ type: 'major', execution: 'async', flavor: 'last-resort' }); // cannot fail; nothing depends on its end
  }, delayMs);
  timer.unref();
}
