import { registerHooks, type ResolveFnOutput } from 'node:module';

/** What Node is asked to resolve for, and what came of it. */
interface Question {
  readonly specifier: string;
  readonly parentUrl: string;
  found?: ResolveFnOutput;
  error?: unknown;
}

/** Node resolves for one module only, which can therefore only be a door: what is meant is put down beside it. */
const door = 'agent-server:resolve';
let question: Question | undefined;

registerHooks({
  resolve(specifier, context, nextResolve) {
    if (specifier !== door || !question) return nextResolve(specifier, context);
    const asked = question;
    question = undefined;
    try {
      asked.found = nextResolve(asked.specifier, { ...context, parentURL: asked.parentUrl });
    } catch (error) {
      asked.error = error;
    }
    return { url: 'node:module', shortCircuit: true };
  },
});
/** A module of Node's own loader, whatever has loaded this file. */
const native: string = `data:text/javascript,${encodeURIComponent(`
  export const { resolve } = import.meta;
  export const importModule = (url, options) => import(url, options);
`)}`;
const { resolve, importModule } = (await import(native)) as {
  resolve: (specifier: string) => string;
  importModule: (url: string, options: ImportCallOptions) => Promise<Record<string, unknown>>;
};

/** Where an import of the module at `parentUrl` leads, and the format, if that is known. Throws what Node throws. */
export function resolveFrom(specifier: string, parentUrl: string): ResolveFnOutput {
  const asked: Question = { specifier, parentUrl };
  question = asked;
  resolve(door);
  if (asked.found) return asked.found;
  throw asked.error;
}

/** `import.meta.resolve` of the module at `parentUrl`: nothing has to be there. */
export function addressFrom(specifier: string, parentUrl: string): string {
  try {
    return resolveFrom(specifier, parentUrl).url;
  } catch (error) {
    if (error instanceof Error && 'url' in error && typeof error.url === 'string') return error.url;
    throw error;
  }
}

/** Imports as Node does, by URL. */
export async function importNative(
  url: string,
  attributes: Readonly<Record<string, string>> = {},
): Promise<Record<string, unknown>> {
  return await importModule(url, Object.keys(attributes).length > 0 ? { with: { ...attributes } } : {});
}
