import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { ServerProcess } from '../support/server.ts';

/** The apps of these tests: one that is slow, one that asks, one that is broken. */
const testAgents = fileURLToPath(new URL('agents', import.meta.url));

/** The real server, ended after the test. */
export async function serve(agents: string = testAgents, flags: readonly string[] = []): Promise<ServerProcess> {
  const started = await ServerProcess.start({ agents, flags });
  onTestFinished(() => started.stop().then(() => {}));
  return started;
}

/** A copy of the apps, for tests that change them or keep evaluations beside them; gone after the test. */
export function copyOfAgents(from: string = testAgents): string {
  mkdirSync('.cache', { recursive: true });
  const copy = mkdtempSync('.cache/agents-'); // inside of the project, where packages are found
  onTestFinished(() => rmSync(copy, { recursive: true }));
  cpSync(from, copy, { recursive: true });
  return copy;
}

/** Makes a session out of events that say just what matters. */
export async function createSession(
  server: ServerProcess,
  app: string,
  session: { sessionId: string; events?: readonly object[]; state?: object },
): Promise<string> {
  const { status, text } = await server.fetchJson(`/apps/${encodeURIComponent(app)}/users/user/sessions`, {
    json: { ...session, events: session.events?.map((event, index) => ({ ...defaults(index), ...event })) },
  });
  if (status !== 200) throw new Error(text);
  return `${server.url}/dev-ui/apps/${encodeURIComponent(app)}/u/user/s/${encodeURIComponent(session.sessionId)}`;
}

const defaults = (index: number): object => ({
  id: `event-${index}`,
  invocationId: `e-${Math.floor(index / 2)}`,
  author: 'user',
  timestamp: 1_790_000_000 + index,
});

/** Writes a message and sends it. */
export async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.keyboard.press('Enter');
}
