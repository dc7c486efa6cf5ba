import { registerHooks } from 'node:module';

/** This package, as agents import it: the sources when the server runs from sources. */
const ownEntry = new URL(import.meta.url.endsWith('.ts') ? '../index.ts' : '../index.js', import.meta.url).href;

/**
 * Lets agents in any folder import `agent-server`, which is always the server that runs them, and `zod`, which is
 * their own when they have installed one.
 */
export function provideAgentImports(): void {
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (specifier === 'agent-server') return { url: ownEntry, shortCircuit: true };
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
