import { AppError } from '../base/errors.ts';
import type { AgentLoader, App } from '../core/runtime.ts';
import { nameFault } from '../schemas/names.ts';
import { checkRunConfig } from '../schemas/run.ts';
import { closeApp } from './close-app.ts';

/** Serves apps made in code. Throws ConfigurationException for an invalid name or two equal ones. */
export function staticLoader(apps: Iterable<App>): AgentLoader {
  const byName = new Map<string, App>();
  for (const app of apps) {
    const fault = nameFault(app.name) ?? (byName.has(app.name) ? 'is taken by another app' : undefined);
    if (fault !== undefined) throw new AppError('ConfigurationException', `The app name "${app.name}" ${fault}`);
    checkRunConfig(`app "${app.name}"`, app.runConfig);
    byName.set(app.name, app);
  }
  return {
    listAgents: async () => [...byName.keys()].toSorted(),
    loadAgent: async (appName) => {
      const app = byName.get(appName);
      if (!app) throw appNotFound(appName);
      return app;
    },
    close: async () => {
      await Promise.all(Array.from(byName.values(), (app) => closeApp(app, [])));
    },
  };
}

export function appNotFound(appName: string): AppError {
  return new AppError('app_not_found', `App not found: ${appName}`);
}
