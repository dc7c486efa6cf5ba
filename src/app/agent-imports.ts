import { registerHooks } from 'node:module';

const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

/** The entries of this package by the names agents import them by: the sources when the server runs from sources. */
const ownEntries = new Map(
  [
    ['agent-server', 'index'],
    ['agent-server/server', 'server/index'],
    ['agent-server/testing', 'testing/index'],
  ].map(([name, file]) => [name, new URL(`../${file}.${ending}`, import.meta.url).href]),
);

let isProvided = false;

/**
 * Lets agents in any folder import `agent-server`, which is always the server that runs them, and `zod`, which is
 * their own when they have installed one. Called again, it does nothing: the hook is the process's.
 */
export function provideAgentImports(): void {
  if (isProvided) return;
  isProvided = true;
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const own = ownEntries.get(specifier);
      if (own !== undefined) return { url: own, shortCircuit: true };
      if (specifier !== 'zod' && !specifier.startsWith('zod/')) return nextResolve(specifier, context);
      try {
        return nextResolve(specifier, context);
      } catch (error) {
        if (context.parentURL?.includes('/node_modules/')) throw error;
        return nextResolve(specifier, { ...context, parentURL: import.meta.url });
      }
    },
  });
}
