import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { ServerProcess } from '../../support/server.ts';
import * as bed from './bed.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const script = [{ match: 'echo', calls: [{ name: 'echo', args: { message: 'hi' } }] }, { text: 'Done.' }];

/** A server with one app over stdio that has been used once, and what ends with it. */
async function usedServer(): Promise<{
  server: ServerProcess;
  folder: string;
  edit: () => Promise<void>;
  use: () => Promise<void>;
}> {
  const folder = await bed.workFolder();
  closing.push(() => bed.remove(folder));
  const agents = join(folder, 'agents');
  const { args } = await bed.stdioEverything(folder);
  const tools = [{ name: 'McpToolset', args }];
  await bed.writeApp(agents, 'app', { script, tools });
  const server = await bed.startServer(agents);
  closing.push(() => server.stop());
  const use = async (): Promise<void> => {
    const chat = await bed.chatWith(server, 'app');
    const events = await chat.say('echo');
    expect(JSON.stringify(events)).toContain('Echo: hi');
  };
  await use();
  return { server, folder, use, edit: () => bed.writeApp(agents, 'app', { script, tools, description: 'Edited.' }) };
}

it('ends the programs it has started when it is stopped', async () => {
  const { server, folder } = await usedServer();
  const pid = bed.pidOf(folder);

  expect(bed.isRunning(pid)).toBe(true);
  expect(await server.stop()).toBe(0);

  expect(bed.isRunning(pid)).toBe(false);
});

it('ends the program of an app that was edited, once the new one is used', async () => {
  const { folder, edit, use } = await usedServer();
  const pid = bed.pidOf(folder);

  await edit();
  await expect
    .poll(async () => {
      await use();
      return bed.pidOf(folder);
    })
    .not.toBe(pid);

  await expect.poll(() => bed.isRunning(pid), { timeout: 10_000 }).toBe(false);
  expect(bed.isRunning(bed.pidOf(folder))).toBe(true);
});
