/** The file that a thread or a process starts with. It lies beside the file that asks for it, as a source and when built. */
export const workerEntry = (name: string, from: string): URL =>
  new URL(`./${name}${from.endsWith('.ts') ? '.ts' : '.js'}`, from);
