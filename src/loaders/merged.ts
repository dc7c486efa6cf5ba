import { AppError } from '../base/errors.ts';
import type { AgentLoader } from '../core/runtime.ts';
import { appNotFound } from './static.ts';

/** Serves the apps of several loaders. Of two apps with the same name, the earlier loader's is used. */
export function mergedLoader(loaders: readonly AgentLoader[]): AgentLoader {
  return {
    listAgents: async () => {
      const lists = await Promise.all(loaders.map((loader) => loader.listAgents()));
      return [...new Set(lists.flat())].toSorted();
    },
    loadAgent: async (appName) => {
      for (const loader of loaders) {
        try {
          return await loader.loadAgent(appName);
        } catch (error) {
          if (!(error instanceof AppError) || error.code !== 'app_not_found') throw error;
        }
      }
      throw appNotFound(appName);
    },
    failureOf: (appName) => {
      for (const loader of loaders) {
        const failure = loader.failureOf?.(appName);
        if (failure) return failure;
      }
      return undefined;
    },
    reloadsOf: (appName) => loaders.flatMap((loader) => loader.reloadsOf?.(appName) ?? []),
    retain: (app) => {
      const releases = loaders.map((loader) => loader.retain?.(app));
      return () => releases.forEach((release) => release?.());
    },
    close: async () => {
      await Promise.allSettled(loaders.map((loader) => loader.close()));
    },
  };
}
