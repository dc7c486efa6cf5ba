import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import type { LiveFrame } from '../../support/live-client.ts';
import { ServerProcess } from '../../support/server.ts';

/** The files of an app by name; objects are written as YAML. */
type AppFiles = Readonly<Record<string, string | Record<string, unknown>>>;

export interface Key {
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: string;
}

/** The real server over apps of a test. */
export interface LiveBed {
  readonly server: ServerProcess;
  readonly url: string;
  /** A fresh session. */
  session(appName: string): Promise<Key>;
  /** The events that are stored of a session. */
  stored(key: Key): Promise<LiveFrame[]>;
  close(): Promise<void>;
}

export async function openLiveBed(
  apps: Readonly<Record<string, AppFiles>>,
  env: Record<string, string> = {},
  flags: readonly string[] = [],
): Promise<LiveBed> {
  const folder = mkdtempSync(join(tmpdir(), 'live-'));
  for (const [app, files] of Object.entries(apps)) {
    for (const [name, content] of Object.entries(files)) {
      const file = join(folder, app, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, typeof content === 'string' ? content : stringify(content));
    }
  }
  const server = await ServerProcess.start({ agents: folder, env, flags });
  return {
    server,
    url: server.url,
    async session(appName) {
      const { body } = await server.fetchJson(`/apps/${appName}/users/u/sessions`, { json: {} });
      return { appName, userId: 'u', sessionId: (body as { id: string }).id };
    },
    async stored({ appName, userId, sessionId }) {
      const { body } = await server.fetchJson(`/apps/${appName}/users/${userId}/sessions/${sessionId}`);
      return (body as { events: LiveFrame[] }).events;
    },
    async close() {
      const code = await server.stop();
      rmSync(folder, { recursive: true });
      if (code !== 0) throw new Error(`The server ended with code ${code}:\n${server.stderr}`);
    },
  };
}
