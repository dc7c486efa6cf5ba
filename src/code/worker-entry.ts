/** The entry file of a thread or process: `.ts` next to sources, `.js` next to built files. */
export const workerEntry = (name: string): URL =>
  new URL(`./${name}${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);
