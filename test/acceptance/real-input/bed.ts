import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeEach } from 'vitest';
import { stringify } from 'yaml';
import { GeminiDouble } from '../../support/gemini-double.ts';
import { ServerProcess } from '../../support/server.ts';
import { Conversation } from './conversation.ts';

/** The YAML files of one app by file name; `root_agent.yaml` is the root. Objects are written as YAML. */
export type AppFiles = Readonly<Record<string, string | Record<string, unknown>>>;

export const apiKey = 'AIzaSyDouble-0123456789abcdefghijklmno';

/** The real server over YAML apps, its Gemini models answered by a double. */
export interface Bed {
  readonly double: GeminiDouble;
  readonly server: ServerProcess;
  /** A fresh session of a fresh user, or of the user and with the state given. */
  chat(app: string, options?: { state?: Record<string, unknown>; userId?: string }): Promise<Conversation>;
}

async function writeApps(folder: string, apps: Readonly<Record<string, AppFiles>>): Promise<void> {
  for (const [app, files] of Object.entries(apps)) {
    for (const [name, content] of Object.entries(files)) {
      const file = join(folder, app, name);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, typeof content === 'string' ? content : stringify(content));
    }
  }
}

/**
 * Starts a bed for the test file that calls it and ends it after its last test. Each test starts with a double that has
 * seen nothing, and fails when a request was one that the real API would refuse. `environment` tells the server of
 * the double at this URL.
 */
export async function openBed(
  apps: Readonly<Record<string, AppFiles>>,
  environment = (url: string): Record<string, string> => ({ GOOGLE_GEMINI_BASE_URL: url, GOOGLE_API_KEY: apiKey }),
): Promise<Bed> {
  const folder = await mkdtemp(join(tmpdir(), 'real-input-'));
  await writeApps(folder, apps);
  const double = await GeminiDouble.start();
  const server = await ServerProcess.start({ agents: folder, env: environment(double.url) });
  beforeEach(() => double.forget());
  afterEach(() => {
    const faults = double.requests.flatMap((request) => request.faults);
    if (faults.length > 0) throw new Error(`Gemini would have refused:\n${faults.join('\n')}`);
  });
  afterAll(async () => {
    const code = await server.stop();
    await double.close();
    await rm(folder, { recursive: true });
    if (code !== 0) throw new Error(`The server ended with code ${code}:\n${server.stderr}`);
  });
  return { double, server, chat: (app, options) => Conversation.open(server, app, options) };
}
