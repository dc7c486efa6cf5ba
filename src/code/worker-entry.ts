/** The file that a thread or a process starts with, as a source beside sources or built beside built files. */
export const workerEntry = (name: string): URL =>
  new URL(`./${name}${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);
