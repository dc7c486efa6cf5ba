import type { Config } from './config.ts';
import { composeEngine, type EngineOptions } from './engine.ts';
import { buildApp } from './http/app.ts';
import type { AppFinder } from './loaders/app-source.ts';

export interface Composed {
  readonly app: Awaited<ReturnType<typeof buildApp>>;
  /** The apps on disk, for the list at the start. */
  readonly apps: AppFinder;
  /** Ends the runs, then releases everything. */
  close(): Promise<void>;
}

export interface ComposeOptions extends EngineOptions {
  readonly version: string;
}

/** The server a config stands for. */
export async function compose(config: Config, { env, log, version }: ComposeOptions): Promise<Composed> {
  const { apps, loader, services, runner, traces } = composeEngine(config, { env, log });
  const app = await buildApp({ loader, services, runner, traces, version, log, config: httpConfigOf(config) });
  return {
    app,
    apps,
    close: async () => {
      await app.close();
      await runner.close();
    },
  };
}

function httpConfigOf(config: Config): NonNullable<Parameters<typeof buildApp>[0]['config']> {
  return {
    host: config.host,
    allowHosts: config.allowHosts,
    allowOrigins: config.allowOrigins,
    cors: config.cors,
    bodyLimitBytes: config.bodyLimit,
    maxConnections: config.maxConnections,
    shutdownGraceMs: config.shutdownGrace,
    ...(config.defaultApp !== undefined && { defaultApp: config.defaultApp }),
    ...(config.devUi !== undefined && { devUiDir: config.devUi }),
  };
}
