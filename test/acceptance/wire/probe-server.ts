import { fileURLToPath } from 'node:url';
import { ServerProcess } from '../../support/server.ts';
import { type WireClient, wireClient } from './client.ts';

export interface ProbeServer {
  readonly url: string;
  readonly client: WireClient;
  /** For what concerns the process: its id, its log, event streams. */
  readonly process: ServerProcess;
  /** Ends the server and answers its exit code. */
  stop(): Promise<number | null>;
}

/** Starts the real server on the apps in `test/acceptance/agents`. */
export async function startProbeServer(
  options: { flags?: readonly string[]; env?: Record<string, string> } = {},
): Promise<ProbeServer> {
  const server = await ServerProcess.start({
    agents: fileURLToPath(new URL('../agents', import.meta.url)),
    ...options,
  });
  return { url: server.url, client: wireClient(server.url), process: server, stop: () => server.stop() };
}
